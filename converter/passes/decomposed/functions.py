"""Functions of tensors that decompositions spell out in two or three operators."""

from __future__ import annotations

from converter.ir import Graph, Param
from converter.passes.decomposed.base import Decomposed
from converter.passes.pattern import Match, PatternPass

STD = """
    torch.var       var  1 1 input a
    pnnx.Expression last 1 1 a out expr=sqrt(@0)
"""
COMPLEX = """
    torch.view_as_real pair 1 1 input a
    Tensor.select      last 1 1 a out dim=%dim index={index}
"""
PRODUCT = """
    pnnx.Expression mul  2 1 {inputs} a expr=mul(@0,@1)
    torch.sum       last 1 1 a out
"""
LARGEST = """
    torch.amax      max  1 1 input a dim=%dim keepdim=True
    pnnx.Expression abs  1 1 a b expr=abs(@0)
    torch.eq        inf  1 1 b c other=inf
    torch.where     safe 2 1 c a d input=0.0
    pnnx.Expression sub  2 1 input d e expr=sub(@0,@1)
    pnnx.Expression exp  1 1 e f expr=exp(@0)
    torch.sum       sum  1 1 f g dim=%dim keepdim=%keepdim
    pnnx.Expression log  1 1 g h expr=log(@0)
"""
LOGSUMEXP_KEEPING = f"""{LARGEST.rstrip()}
    pnnx.Expression last 2 1 h d out expr=add(@0,@1)
"""
LOGSUMEXP = f"""{LARGEST.rstrip()}
    torch.squeeze   thin 1 1 d i dim=%dim
    pnnx.Expression last 2 1 h i out expr=add(@0,@1)
"""


class StandardDeviation(Decomposed):
    """Before: `sqrt(var(x))`. After: `torch.std x`, with the arguments of var."""

    def rewrite(self, graph: Graph, match: Match) -> bool:
        match.captured |= match["var"].params
        return super().rewrite(graph, match)


class Component(Decomposed):
    """Before: one of the two numbers of each complex one. After: `torch.real x`."""

    def rewrite(self, graph: Graph, match: Match) -> bool:
        rank = len(match.operands["a"].shape or ())
        return match.captured.pop("dim") in (-1, rank - 1) and super().rewrite(graph, match)


class VectorProduct(Decomposed):
    """Before: `sum(x * v)` over the last dim. After: `torch.mv x v`, `torch.dot` of two vectors, or
    `torch.matmul`. `torch.vdot` conjugates complex numbers first.
    """

    def rewrite(self, graph: Graph, match: Match) -> bool:
        matrix, vector = (match.operands[name] for name in self.inputs)
        summed: dict[str, Param] = {"dim": (1,), "keepdim": False}
        known = [operand.shape for operand in (matrix, vector)]
        if self.origin == "vdot" and matrix.dtype in ("c64", "c128"):
            return False
        if known[0] is None or known[1] is None or len(known[1]) != 1:
            return False
        wanted = {1: {}, 2: summed}.get(len(known[0]))
        if match["last"].params != wanted or known[0][-1] != known[1][0]:
            return False
        return super().rewrite(graph, match)


def product(origin: str, *inputs: str) -> VectorProduct:
    pattern = PRODUCT.format(inputs=" ".join(inputs))
    return VectorProduct(origin, f"torch.{origin}", pattern, inputs)


LOGSUMEXPS: tuple[PatternPass, ...] = (
    Decomposed("logsumexp", "torch.logsumexp", LOGSUMEXP_KEEPING),
    Decomposed("logsumexp", "torch.logsumexp", LOGSUMEXP),
)

FUNCTIONS: tuple[PatternPass, ...] = (
    StandardDeviation("std", "torch.std", STD),
    Component("real", "torch.real", COMPLEX.format(index=0)),
    Component("imag", "torch.imag", COMPLEX.format(index=1)),
    product("mv", "input", "vec"),
    product("dot", "input", "tensor"),
    product("vdot", "input", "other"),
    product("matmul", "input", "other"),
)
