"""Padding by reflection or replication, which decompositions do by indexing each dim."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from converter.ir import Graph, Operator
from converter.passes.base import Pass
from converter.passes.terms import static_shape

ORIGINS = ("pad", "reflection_pad", "replication_pad")
Source = Callable[[int, int], int]
"""Where the element at a place, which may lie outside, of a dim of that size is taken from."""

MODES: dict[str, Source] = {
    "reflect": lambda place, size: size - 1 - abs(size - 1 - abs(place)),
    "replicate": lambda place, size: min(max(place, 0), size - 1),
}


class Padding(Pass):
    """Before: `Tensor.index x -> a expr=[None,[1,0,1,2,1]]`, and so for other dims.

    After: `F.pad x -> y mode=reflect pad=(1,1)`.
    """

    def run(self, graph: Graph) -> int:
        return sum(to_pad(graph, op) for op in graph.of_type("Tensor.index"))


def to_pad(graph: Graph, op: Operator) -> bool:
    if op.origin is None or not op.origin.startswith(ORIGINS):
        return False
    if op.type != "Tensor.index" or op.outputs[0].producer is not op:
        return False  # done, as a later one of a chain
    chain = list(indexing(op))
    last = chain[-1]
    before, after = static_shape(op.inputs[0]), static_shape(last.outputs[0])
    if before is None or after is None:
        return False
    for mode, source in MODES.items():
        pads = [padded(one, source) for one in chain]
        known = dict(pad for pad in pads if pad is not None)
        if len(known) == len(pads):
            first = min(known)
            amounts = [known.get(dim, (0, 0)) for dim in range(first, len(before))]
            pad = tuple(amount for pair in reversed(amounts) for amount in pair)
            last.type = "F.pad"
            last.params = {"mode": mode, "pad": pad, "value": None}
            graph.set_inputs(last, op.inputs[:1], ["input"])
            graph.remove_all(chain[:-1])
            return True
    return False


def indexing(op: Operator) -> Iterator[Operator]:
    """This operator and those after it that index later dims of what it gives, for a call."""
    yield op
    readers = op.outputs[0].consumers
    after = readers[0] if len(readers) == 1 else None
    if after is None or after.type != op.type or after.origin != op.origin:
        return
    if indexed(op) < indexed(after):
        yield from indexing(after)


def indexed(op: Operator) -> list[int]:
    """The dims that an operator indexes."""
    text = op.params.get("expr")
    items = ast.literal_eval(text) if isinstance(text, str) else []
    return [dim for dim, item in enumerate(items) if item is not None]


def padded(op: Operator, source: Source) -> tuple[int, tuple[int, int]] | None:
    """The dim that is indexed, and how far beyond its ends; None where it is no such padding."""
    shape, text = static_shape(op.inputs[0]), op.params.get("expr")
    if shape is None or not isinstance(text, str):
        return None
    items, dims = ast.literal_eval(text), indexed(op)
    if len(dims) != 1 or not isinstance(items[dims[0]], list):
        return None
    dim, size, places = dims[0], shape[dims[0]], items[dims[0]]
    for before in range(len(places)):
        after = len(places) - size - before
        if after < 0:
            return None
        if places == [source(place, size) for place in range(-before, size + after)]:
            return dim, (before, after)
    return None
