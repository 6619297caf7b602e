"""Recognize nn.RMSNorm where a model spells it out."""

from __future__ import annotations

from typing import ClassVar

from converter.ir import Graph
from converter.passes.composites import number
from converter.passes.pattern import Match, PatternPass

NORM = """
        pnnx.Input      x    0 1 x
        pnnx.Expression pow  1 1 x a expr=pow(@0,2)
        torch.mean      mean 1 1 a b dim=(-1) keepdim=True
        pnnx.Expression add  1 1 b c
        pnnx.Expression root 1 1 c d expr=rsqrt(@0)
        pnnx.Expression norm 2 1 x d out expr=mul(@0,@1)
        pnnx.Output     out  1 0 out
"""


class RMSNorm(PatternPass):
    """Before: `x * rsqrt(mean(x ** 2) + eps)` over the last dim. After: `nn.RMSNorm x`.

    (Zhang and Sennrich, "Root Mean Square Layer Normalization", 2019.)
    """

    changes_arithmetic: ClassVar[bool] = True
    pattern = NORM

    def rewrite(self, graph: Graph, match: Match) -> bool:
        eps, shape = number(match["add"], "add"), match.operands["x"].shape
        if eps is None or not shape or not isinstance(shape[-1], int):
            return False
        op = match["norm"]
        op.type = "nn.RMSNorm"
        op.params = {"elementwise_affine": False, "eps": eps, "normalized_shape": shape[-1:]}
        graph.set_inputs(op, [match.operands["x"]], ["input"])
        return True


class RMSNormWeight(PatternPass):
    """Before: `nn.RMSNorm x -> a` without a weight, and `w * a` with w stored.

    After: `nn.RMSNorm x -> y` with the weight w.
    """

    changes_arithmetic: ClassVar[bool] = True

    def __init__(self, inputs: str) -> None:
        self.pattern = f"""
            pnnx.Input      x    0 1 x
            pnnx.Input      w    0 1 w
            nn.RMSNorm      norm 1 1 x a elementwise_affine=False
            pnnx.Expression mul  2 1 {inputs} out expr=mul(@0,@1)
            pnnx.Output     out  1 0 out
        """

    def rewrite(self, graph: Graph, match: Match) -> bool:
        norm, mul, stored = match["norm"], match["mul"], match.operands["w"].stored
        if stored is None or stored.shape != norm.params["normalized_shape"]:
            return False
        if stored.dtype != match.operands["x"].dtype:
            return False
        mul.type, mul.params = norm.type, {**norm.params, "elementwise_affine": True}
        mul.attrs = {"weight": stored}
        graph.set_inputs(mul, [match.operands["x"]], ["input"])
        return True


RMS_NORMS = (RMSNorm(), RMSNormWeight("a w"), RMSNormWeight("w a"))
