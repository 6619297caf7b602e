"""Resizing of rows and volumes, which decompositions do by selecting items by stored places.

Sizes are told, not factors: they say the same where the places do.
"""

from __future__ import annotations

import numpy as np

from converter.ir import Array, Graph, Operator, Param
from converter.passes.base import Pass
from converter.passes.decomposed.base import Decomposed
from converter.passes.formula import Items, Place, parse
from converter.passes.pattern import Match
from converter.passes.terms import static_shape

LINEAR = """
    torch.clamp     from  1 1 place a min=0.0 max=None
    Tensor.reshape  row   1 1 a b
    Tensor.to       low   1 1 b i dtype=torch.long
    pnnx.Expression next  1 1 i j expr=add(@0,1)
    torch.clamp     high  1 1 j k min=None max=%end
    pnnx.Expression lows  1 1 i m expr=[None,None,@0]
    Tensor.index    left  2 1 input m x
    pnnx.Expression highs 1 1 k n expr=[None,None,@0]
    Tensor.index    right 2 1 input n y
    pnnx.Expression rest  2 1 b i r expr=sub(@0,@1)
    torch.clamp     part  1 1 r t min=0.0 max=1.0
    pnnx.Expression step  2 1 y x s expr=sub(@0,@1)
    pnnx.Expression some  2 1 s t u expr=mul(@0,@1)
    pnnx.Expression last  2 1 x u out expr=add(@0,@1)
"""
TOLERANCE = 1e-6
"""Of places: they were computed in single precision."""


class LinearRows(Decomposed):
    """Before: the items beside each place, weighted. After: `F.upsample x mode=linear size=(7)`."""

    def __init__(self) -> None:
        super().__init__("upsample_linear1d", "F.upsample", LINEAR, mode="linear")
        self.pattern = f"pnnx.Input place 0 1 place\n{self.pattern}"

    def rewrite(self, graph: Graph, match: Match) -> bool:
        before = static_shape(match.operands["input"])
        after, stored = static_shape(match["last"].outputs[0]), match.operands["place"].stored
        if before is None or after is None or stored is None or stored.shape != after[2:]:
            return False
        size, count = before[-1], after[-1]
        if len(before) != 3 or match.captured.pop("end") != size - 1:
            return False
        for corners in (False, True):
            if np.allclose(stored.array(), places(size, count, corners), TOLERANCE, TOLERANCE):
                match.captured |= {"size": (count,), "align_corners": corners}
                return super().rewrite(graph, match)
        return False


def places(size: int, count: int, corners: bool) -> Array:
    """Where `count` points lie on a row of `size`: its ends are corners, or the points' middles."""
    points = np.arange(count)
    if corners:
        return points * ((size - 1) / max(count - 1, 1))
    return (points + 0.5) * (size / count) - 0.5


class Nearest(Pass):
    """Before: `Tensor.index x -> y expr=[None,None,[0,0,1,1]]`, of one or three dims.

    After: `F.upsample x -> y mode=nearest size=(4)`, `F.upsample_nearest` of three.
    """

    def run(self, graph: Graph) -> int:
        return sum(to_nearest(graph, op) for op in graph.of_type("Tensor.index"))


NEAREST = {"upsample_nearest1d": ("F.upsample", 3), "upsample_nearest3d": ("F.upsample_nearest", 5)}


def to_nearest(graph: Graph, op: Operator) -> bool:
    if op.origin not in NEAREST:
        return False
    function, rank = NEAREST[op.origin]
    before, after = static_shape(op.inputs[0]), static_shape(op.outputs[0])
    lists = selected(op)
    if before is None or after is None or not len(before) == len(after) == len(lists) == rank:
        return False
    if lists[:2] != [None, None]:
        return False
    for dim in range(2, rank):
        given, wanted = lists[dim], nearest(before[dim], after[dim])
        if given is None or not np.array_equal(given.reshape(-1), wanted):
            return False
        if given.shape not in ((after[dim],), (after[dim], *(1,) * (rank - 1 - dim))):
            return False
    mode: dict[str, Param] = {"mode": "nearest"} if function == "F.upsample" else {}
    op.type, op.params = function, {"size": after[2:], **mode}
    graph.set_inputs(op, op.inputs[:1], ["input"])
    return True


def nearest(size: int, count: int) -> Array:
    """PyTorch's places of the nearest, rounded as it does."""
    scale = np.float32(size) / np.float32(count)
    points = np.floor(np.arange(count, dtype=np.float32) * scale)
    found: Array = np.minimum(points, size - 1).astype(np.int64)
    return found


def selected(op: Operator) -> list[Array | None]:
    """What each dim is indexed by; empty where that is not stored."""
    given = op.input("expr").producer if op.has_input("expr") else None
    lists = given if given is not None and given.type == "pnnx.Expression" else op
    tree = parse(lists) if "expr" in lists.params else None
    if not isinstance(tree, Items):
        return []
    held = [] if lists is op else [operand.stored for operand in lists.inputs]
    found: list[Array | None] = []
    for item in tree.items:
        match item:
            case None:
                found.append(None)
            case Items(items):
                found.append(np.array(items))
            case Place(number) if (stored := held[number]) is not None:
                found.append(stored.array())
            case _:
                return []
    return found


RESIZING: tuple[Pass, ...] = (LinearRows(), Nearest())
