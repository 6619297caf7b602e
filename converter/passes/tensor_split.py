"""Split a tensor once where slices of a dim cover all of it."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from converter.ir import Graph, Operand, Operator
from converter.passes.base import Pass


class Piece(NamedTuple):
    """The range of a dim that a slice takes, counted from the front, and how its end is written."""

    start: int
    end: int
    written: int
    op: Operator


class SlicesToTensorSplit(Pass):
    """Before: `Tensor.slice x -> a dim=1 start=0 end=2`, `Tensor.slice x -> b dim=1 start=2`.

    After: `torch.tensor_split x -> a b dim=1 indices=(2)`. Slices that overlap the others stay.
    """

    def run(self, graph: Graph) -> int:
        groups: dict[tuple[Operand, int], dict[int, Piece]] = defaultdict(dict)
        for op in graph.of_type("Tensor.slice"):
            found = piece(op)
            if found is not None:
                dim, taken = found
                groups[op.inputs[0], dim].setdefault(taken.start, taken)
        return sum(split(graph, source, dim, pieces) for (source, dim), pieces in groups.items())


def piece(op: Operator) -> tuple[int, Piece] | None:
    """The dim and the range of a slice of one dim without gaps; None for any other."""
    shape, params = op.inputs[0].shape, op.params
    if shape is None or "dims" in params or params["step"] != 1:
        return None
    dim, start, end = params["dim"], params["start"], params["end"]
    if not isinstance(dim, int) or not isinstance(start, int) or not isinstance(end, int):
        return None
    size = shape[dim]
    if not isinstance(size, int):
        return None
    first, last, _ = slice(start, end).indices(size)
    return (dim % len(shape), Piece(first, last, end, op)) if first < last else None


def split(graph: Graph, source: Operand, dim: int, pieces: dict[int, Piece]) -> bool:
    """Replace the slices that follow each other from the first element to the last."""
    assert source.shape is not None
    chain: list[Piece] = []
    place = 0
    while place in pieces:
        chain.append(pieces[place])
        place = chain[-1].end
    if len(chain) < 2 or place != source.shape[dim]:
        return False
    first = next(one.op for one in pieces.values() if one in chain)
    graph.add(
        "torch.tensor_split",
        first.name,
        [source],
        [one.op.outputs[0] for one in chain],
        params={"dim": dim, "indices": tuple(one.written for one in chain[:-1])},
        before=first,
    )
    graph.remove_all(one.op for one in chain)
    return True
