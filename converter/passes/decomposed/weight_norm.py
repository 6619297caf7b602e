"""Weight norm, which decompositions spell out: `v * (g / norm(v))`."""

from __future__ import annotations

from converter.ir import Graph
from converter.passes.adjacent import permutation
from converter.passes.decomposed.base import Decomposed
from converter.passes.pattern import Match, PatternPass
from converter.passes.terms import static_shape

ORIGIN = "_weight_norm"
SCALED = """
    pnnx.Expression div  2 1 g n c expr=div(@0,@1)
    pnnx.Expression last 2 1 v c out expr=mul(@0,@1)
"""
NORM = """
    torch.norm      norm 1 1 v n p=2 dim=%dims
"""
NORM_OF_ROWS = """
    Tensor.permute  flip 1 1 v a
    Tensor.reshape  rows 1 1 a b
    torch.norm      norm 1 1 b d p=2 dim=(1) keepdim=False
    Tensor.reshape  wide 1 1 d e
    Tensor.permute  back 1 1 e n
"""


class WeightNorm(Decomposed):
    """Before: `v * (g / norm(v))`, the norm taken over all dims but one. After:
    `torch._weight_norm v g dim=0`.
    """

    def rewrite(self, graph: Graph, match: Match) -> bool:
        dims = match.captured.pop("dims")
        shape, length = static_shape(match.operands["v"]), match.operands["g"].shape
        if shape is None or not isinstance(dims, tuple | None):
            return False
        kept = [dim for dim in range(len(shape)) if dims is not None and dim not in dims]
        if len(kept) > 1 or length != norm_shape(shape, kept):
            return False
        match.captured["dim"] = kept[0] if kept else -1
        return super().rewrite(graph, match)


class WeightNormOfRows(Decomposed):
    """The same of a dim that is not the first: it is made the first, and the others joined."""

    def rewrite(self, graph: Graph, match: Match) -> bool:
        shape, length = static_shape(match.operands["v"]), match.operands["g"].shape
        order, back = permutation(match["flip"]), permutation(match["back"])
        if shape is None or order is None or order != back:
            return False
        dim = order[0]
        flipped = [dim if one == 0 else 0 if one == dim else one for one in range(len(shape))]
        rows = static_shape(match.operands["b"])
        if order != flipped or rows is None or rows[0] != shape[dim]:
            return False
        if not length == match.operands["n"].shape == norm_shape(shape, [dim]):
            return False
        match.captured["dim"] = dim
        return super().rewrite(graph, match)


def norm_shape(shape: tuple[int, ...], kept: list[int]) -> tuple[int, ...]:
    """The shape of the norms of all dims but these, of all dims where there are none."""
    return tuple(size if dim in kept else 1 for dim, size in enumerate(shape)) if kept else ()


WEIGHT_NORMS: tuple[PatternPass, ...] = (
    WeightNorm(ORIGIN, "torch._weight_norm", NORM.rstrip() + SCALED, ("v", "g")),
    WeightNormOfRows(ORIGIN, "torch._weight_norm", NORM_OF_ROWS.rstrip() + SCALED, ("v", "g")),
)
