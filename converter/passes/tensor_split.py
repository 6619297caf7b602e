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

    After: `torch.tensor_split x -> a b dim=1 indices=(2)`. Other slices of x stay.
    """

    def run(self, graph: Graph) -> int:
        groups: dict[tuple[Operand, int], list[Piece]] = defaultdict(list)
        for op in graph.of_type("Tensor.slice"):
            found = piece(op)
            if found is not None:
                dim, taken = found
                groups[op.inputs[0], dim].append(taken)
        return sum(split_all(graph, source, dim, some) for (source, dim), some in groups.items())


def piece(op: Operator) -> tuple[int, Piece] | None:
    """The dim and the range of a slice of one dim without gaps; None for any other."""
    shape, params = op.inputs[0].shape, op.params
    if shape is None or "dims" in params or params.get("step") != 1:
        return None
    dim, start, end = params["dim"], params.get("start"), params.get("end")
    if not isinstance(dim, int) or not isinstance(start, int) or not isinstance(end, int):
        return None
    size = shape[dim]
    if not isinstance(size, int):
        return None
    first, last, _ = slice(start, end).indices(size)
    return (dim % len(shape), Piece(first, last, end, op)) if 0 < last - first < size else None


def split_all(graph: Graph, source: Operand, dim: int, pieces: list[Piece]) -> int:
    """Replace the slices that follow each other from the first element to the last, then those of
    the others that do.
    """
    assert source.shape is not None
    size, changed = source.shape[dim], 0
    assert isinstance(size, int)
    while chain := cover(pieces, size):
        first = next(one.op for one in pieces if one in chain)
        split(graph, source, dim, chain, first)
        pieces = [one for one in pieces if one not in chain]
        changed += 1
    return changed


def cover(pieces: list[Piece], size: int) -> list[Piece]:
    """Pieces each of which starts where the one before it ends, from 0 to size; none if none do."""
    leading: dict[int, Piece] = {}
    for one in sorted(pieces, key=lambda one: one.start, reverse=True):
        if one.end == size or one.end in leading:
            leading.setdefault(one.start, one)
    chain: list[Piece] = []
    while (place := chain[-1].end if chain else 0) in leading:
        chain.append(leading[place])
    return chain


def split(graph: Graph, source: Operand, dim: int, chain: list[Piece], first: Operator) -> None:
    graph.add(
        "torch.tensor_split",
        first.name,
        [source],
        [one.op.outputs[0] for one in chain],
        params={"dim": dim, "indices": tuple(one.written for one in chain[:-1])},
        before=first,
    )
    graph.remove_all(one.op for one in chain)
