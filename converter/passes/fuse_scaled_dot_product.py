"""Write torch's scaled dot-product attention where a model spells it out."""

from __future__ import annotations

import math
from typing import ClassVar

from converter.ir import Graph
from converter.passes.formula import Function, Place, parse
from converter.passes.pattern import Match, PatternPass


class FuseScaledDotProduct(PatternPass):
    """Before: `softmax(query @ key.transpose(2, 3) * scale + mask) @ value`, by heads.

    After: `F.scaled_dot_product_attention query key value mask`. The form is the one that pnnx
    knows: with a mask, and with the scale that torch takes by itself. A query all of whose keys are
    masked by minus infinity gives 0 there, where a softmax gives NaN.
    """

    changes_arithmetic: ClassVar[bool] = True
    pattern = """
        pnnx.Input      q       0 1 q
        pnnx.Input      k       0 1 k
        pnnx.Input      v       0 1 v
        pnnx.Input      m       0 1 m
        torch.transpose flip    1 1 k kt dim0=2 dim1=3
        torch.matmul    scores  2 1 q kt s
        pnnx.Expression scale   2 1 s m e
        F.softmax       softmax 1 1 e p dim=-1
        torch.matmul    last    2 1 p v out
        pnnx.Output     out     1 0 out
    """

    def rewrite(self, graph: Graph, match: Match) -> bool:
        query, mask = match.operands["q"], match.operands["m"]
        shapes = [match.operands[name].shape or () for name in "qkv"]
        if len({shape[:2] for shape in shapes}) > 1 or any(len(shape) != 4 for shape in shapes):
            return False
        depth = shapes[0][-1]
        if not isinstance(depth, int) or mask.dtype != query.dtype:
            return False
        match parse(match["scale"]):
            case Function(
                name="add",
                arguments=(
                    Function(name="mul", arguments=(Place(number=0), float() as scale)),
                    Place(number=1),
                ),
            ) if math.isclose(scale, 1 / math.sqrt(depth), rel_tol=1e-6):
                pass
            case _:
                return False
        op = match["last"]
        op.type = "F.scaled_dot_product_attention"
        op.params = {"dropout_p": 0.0, "is_causal": False}
        inputs = [match.operands[name] for name in "qkvm"]
        graph.set_inputs(op, inputs, ["query", "key", "value", "attn_mask"])
        return True
