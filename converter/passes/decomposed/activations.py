"""Activations as `run_decompositions()` spells them out (torch/_decomp/decompositions.py)."""

from __future__ import annotations

from converter.ir import Attribute, Graph
from converter.passes.decomposed.base import Decomposed
from converter.passes.pattern import Match, PatternPass

CELU = """
    pnnx.Expression expm1 1 1 input a expr=expm1(@0)
    torch.gt        gt    1 1 input b other=0
    torch.where     last  3 1 b input a out
"""
CELU_ALPHA = """
    pnnx.Expression div   1 1 input a expr=div(@0,%alpha)
    pnnx.Expression expm1 1 1 a b expr=expm1(@0)
    pnnx.Expression mul   1 1 b c expr=mul(@0,%alpha)
    torch.gt        gt    1 1 input d other=0
    torch.where     last  3 1 d input c out
"""
HARDSHRINK = """
    pnnx.Expression abs  1 1 input a expr=abs(@0)
    torch.le        le   1 1 a b other=%lambd
    torch.where     last 2 1 b input out input=0.0
"""
CLIPPED = """
    pnnx.Expression add   1 1 input a expr=add(@0,3)
    torch.clamp     low   1 1 a b min=0 max=None
    torch.clamp     high  1 1 b c min=None max=6
"""
HARDSIGMOID = f"""{CLIPPED.rstrip()}
    pnnx.Expression last  1 1 c out expr=div(@0,6)
"""
HARDSWISH = f"""{CLIPPED.rstrip()}
    pnnx.Expression mul   2 1 input c d expr=mul(@0,@1)
    pnnx.Expression last  1 1 d out expr=div(@0,6)
"""
LOGSIGMOID = """
    pnnx.Expression min   1 1 input a expr=minimum(0.0,@0)
    pnnx.Expression abs   1 1 input b expr=abs(@0)
    pnnx.Expression neg   1 1 b c expr=neg(@0)
    pnnx.Expression exp   1 1 c d expr=exp(@0)
    pnnx.Expression log1p 1 1 d e expr=log1p(@0)
    pnnx.Expression last  2 1 a e out expr=sub(@0,@1)
"""
MISH = """
    pnnx.Expression exp   1 1 input a expr=exp(@0)
    pnnx.Expression log1p 1 1 a b expr=log1p(@0)
    torch.gt        gt    1 1 input c other=20
    torch.where     where 3 1 c input b d
    F.tanh          tanh  1 1 d e
    pnnx.Expression last  2 1 input e out expr=mul(@0,@1)
"""
SILU = """
    F.sigmoid       sigmoid 1 1 input a
    pnnx.Expression last    2 1 input a out expr=mul(@0,@1)
"""
SOFTPLUS = """
    pnnx.Expression exp   1 1 input a expr=exp(@0)
    pnnx.Expression log1p 1 1 a b expr=log1p(@0)
    torch.gt        gt    1 1 input c other=%threshold
    torch.where     last  3 1 c input b out
"""
SOFTPLUS_BETA = """
    pnnx.Expression mul   1 1 input a expr=mul(@0,%beta)
    pnnx.Expression exp   1 1 a b expr=exp(@0)
    pnnx.Expression log1p 1 1 b c expr=log1p(@0)
    pnnx.Expression div   1 1 c d expr=div(@0,%beta)
    torch.gt        gt    1 1 a e other=%threshold
    torch.where     last  3 1 e input d out
"""
SOFTSHRINK = """
    pnnx.Expression abs  1 1 input a expr=abs(@0)
    torch.gt        gt   1 1 a b other=%lambd
    pnnx.Expression sign 1 1 input c expr=sign(@0)
    pnnx.Expression mul  1 1 c d expr=mul(@0,%lambd)
    pnnx.Expression sub  2 1 input d e expr=sub(@0,@1)
    pnnx.Expression zero 1 1 input f expr=mul(@0,0)
    torch.where     last 3 1 b e f out
"""
PRELU = """
    torch.gt        gt   1 1 input a other=0
    pnnx.Expression mul  2 1 weight input b expr=mul(@0,@1)
    torch.where     last 3 1 a input b out
"""
THRESHOLD = """
    torch.le        le   1 1 input a other=%threshold
    torch.where     last 2 1 a input out input=%value
"""
GLU = """
    Tensor.slice    slice 1 1 input a dim=%dim start=0 end=%half step=1
    Tensor.slice    gate  1 1 input b dim=%dim start=%half step=1
    F.sigmoid       sigmoid 1 1 b c
    pnnx.Expression last  2 1 a c out expr=mul(@0,@1)
"""


class StoredSlope(Decomposed):
    """A decomposition gives the weight as many dims as the input has: it is stored with one again.

    Before: `pnnx.Attribute -> w` of shape (1,5,1,1), `where(x > 0, x, w * x)`. After: `F.prelu`.
    """

    def rewrite(self, graph: Graph, match: Match) -> bool:
        op, weight, shape = match["last"], match.operands["weight"], match.operands["input"].shape
        stored = weight.stored
        if stored is None or shape is None or op.origin != self.origin:
            return False
        place = min(len(shape) - 1, 1)
        if any(size != 1 for dim, size in enumerate(stored.shape) if dim != place):
            return False
        one_dim = Attribute(stored.dtype, (stored.size,), stored.data)
        given = graph.fresh(f"{op.name}_weight", one_dim.shape, one_dim.dtype)
        graph.add("pnnx.Attribute", given.name, (), [given], attrs={"data": one_dim}, before=op)
        op.type, op.params = self.function, {}
        graph.set_inputs(op, [match.operands["input"], given], self.inputs)
        return True


class WholeThreshold(Decomposed):
    """The value has become a tensor, which does not tell 20 from 20.0: whole numbers are ints."""

    def rewrite(self, graph: Graph, match: Match) -> bool:
        value = match.captured["value"]
        if isinstance(value, float) and value.is_integer():
            match.captured["value"] = int(value)
        return isinstance(value, int | float) and super().rewrite(graph, match)


class GatedHalves(Decomposed):
    """The two halves of a dim."""

    def rewrite(self, graph: Graph, match: Match) -> bool:
        dim, half = match.captured["dim"], match.captured.pop("half")
        shape = match.operands["input"].shape
        if shape is None or not isinstance(dim, int) or not isinstance(half, int):
            return False
        if (
            shape[dim] != 2 * half
            or match["gate"].outputs[0].shape != match["slice"].outputs[0].shape
        ):
            return False
        return super().rewrite(graph, match)


ACTIVATIONS: tuple[PatternPass, ...] = (
    Decomposed("celu", "F.celu", CELU, alpha=1.0),
    Decomposed("celu", "F.celu", CELU_ALPHA),
    GatedHalves("glu", "F.glu", GLU),
    Decomposed("hardshrink", "F.hardshrink", HARDSHRINK),
    Decomposed("hardsigmoid", "F.hardsigmoid", HARDSIGMOID),
    Decomposed("hardswish", "F.hardswish", HARDSWISH),
    Decomposed("log_sigmoid", "F.logsigmoid", LOGSIGMOID),
    Decomposed("mish", "F.mish", MISH),
    StoredSlope("prelu", "F.prelu", PRELU, ("input", "weight")),
    Decomposed("silu", "F.silu", SILU),
    Decomposed("softplus", "F.softplus", SOFTPLUS, beta=1),
    Decomposed("softplus", "F.softplus", SOFTPLUS_BETA),
    Decomposed("softshrink", "F.softshrink", SOFTSHRINK),
    WholeThreshold("threshold", "F.threshold", THRESHOLD),
)
