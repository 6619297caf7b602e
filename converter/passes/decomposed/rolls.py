"""Rolls, which decompositions do by selecting indices, one dim after the other."""

from __future__ import annotations

import numpy as np

from converter.ir import Array, Graph, Operand, Operator
from converter.passes.base import Pass
from converter.passes.formula import Function, Place, parse
from converter.passes.terms import static_shape

ORIGIN = "roll"


class Roll(Pass):
    """Before: `torch.index_select x i -> y dim=1` with i = (3, 0, 1, 2), and so for other dims.

    After: `torch.roll x -> y shifts=(1) dims=(1)`; of no dims where all are joined before.
    """

    def run(self, graph: Graph) -> int:
        rolled = sum(to_roll(graph, op) for op in graph.of_type("torch.index_select"))
        for op in graph.of_type("torch.roll"):
            if op.outputs[0].producer is op and op.origin == ORIGIN:
                join(graph, op)
        return rolled


def to_roll(graph: Graph, op: Operator) -> bool:
    shape, dim = static_shape(op.inputs[0]), op.params["dim"]
    index = places(op.inputs[1]) if op.origin == ORIGIN and len(op.inputs) == 2 else None
    if index is None or shape is None or not isinstance(dim, int):
        return False
    size = shape[dim]
    shift = int(-index[0]) % size
    if not np.array_equal(index, (np.arange(size) - shift) % size):
        return False
    op.type, op.params = "torch.roll", {"shifts": (shift,), "dims": (dim,)}
    graph.set_inputs(op, op.inputs[:1], ["input"])
    return True


def places(index: Operand) -> Array | None:
    """The indices, which are stored, or left of a division by the size of the dim."""
    op = index.producer
    if index.stored is not None:
        return index.stored.array()
    if op is None or op.type != "pnnx.Expression" or len(op.inputs) != 1:
        return None
    stored = op.inputs[0].stored
    match parse(op):
        case Function(name="fmod", arguments=(Place(), int() as size)) if stored and size:
            return np.fmod(stored.array(), size)
    return None


def join(graph: Graph, op: Operator) -> None:
    """Join a roll with those after it that the same call made, and with what flattens before it."""
    shifts, dims, last = op.params["shifts"], op.params["dims"], op
    if not isinstance(shifts, tuple) or not isinstance(dims, tuple):
        return
    while (after := only_reader(last)) is not None and after.type == op.type:
        more, other = after.params["shifts"], after.params["dims"]
        if after.origin != ORIGIN or not isinstance(more, tuple) or not isinstance(other, tuple):
            break
        shifts, dims, last = (*shifts, *more), (*dims, *other), after
    source, result = op.inputs[0], last
    flat, split = source.producer, only_reader(last)
    if flat is not None and split is not None and {flat.type, split.type} == {"Tensor.reshape"}:
        same = flat.inputs[0].shape == split.outputs[0].shape
        if flat.origin == split.origin == ORIGIN and same and len(source.shape or ()) == 1:
            source, result = flat.inputs[0], split
    result.type = op.type
    result.params = {"shifts": shifts, "dims": None if result is not last else dims}
    graph.set_inputs(result, [source], ["input"])


def only_reader(op: Operator) -> Operator | None:
    readers = op.outputs[0].consumers
    return readers[0] if len(readers) == 1 else None
