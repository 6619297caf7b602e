"""Buffers that the model changes as it runs. A graph keeps nothing from one call to the next."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from converter.archive.program import OutputKind, Program
from converter.archive.values import TensorRef
from converter.errors import UnsupportedError, Where
from converter.ir import DTYPES, Attribute, Graph, LazyData, Operand, Operator

STATE = "pnnx.State"
"""The operator of a stored tensor as it is when a call begins, where the model changes it."""

MUTATIONS = (OutputKind.buffer_mutation, OutputKind.parameter_mutation)


def declared(program: Program) -> dict[str, Where | None]:
    """The stored tensors that the signature of a functional program says are changed, and where."""
    names = {stored.fqn: stored.name for stored in program.stored.values()}
    makers = {
        made.name: node.where
        for node in program.body.nodes
        for made in node.outputs
        if isinstance(made, TensorRef)
    }
    return {
        names[output.target]: makers.get(output.value.name)
        for output in program.outputs
        if output.kind in MUTATIONS
        and output.target in names
        and isinstance(output.value, TensorRef)
        and output.value.name != names[output.target]  # torch 2.5 lists what stays as it is too
    }


def check_state(graph: Graph, program: Program, changed: Mapping[str, Where | None]) -> None:
    """Let go of state that no result depends on: counters, statistics, what is overwritten whole.

    Raises UnsupportedError, which names the buffer, for a result that depends on what a call before
    left there, and for a buffer that shares its memory with another one.
    """
    for name, where in changed.items():
        own = program.stored[name]
        for other in program.stored.values():
            if other is not own and other.storage == own.storage:
                raise UnsupportedError(
                    f"the model changes {own.fqn}, which shares its memory with {other.fqn}",
                    where=where,
                    mend="give each a memory of its own, with clone()",
                )
    if graph.of_type(STATE):
        forget(graph)
        read_back(graph)
    live = needed(graph)
    for op in graph.of_type(STATE):
        if op in live:
            raise UnsupportedError(
                f"the results depend on {program.stored[op.name].fqn}, which the model changes: "
                "a graph keeps nothing from call to call",
                where=changed.get(op.name),
                mend="pass it to forward and return what it becomes",
            )


def forget(graph: Graph) -> None:
    """Store what is filled with a number: whatever was there before, it is the same."""
    for op in graph.of_type("Tensor.fill"):
        (output,) = op.outputs
        value, shape, dtype = op.params.get("value"), sizes(output), output.dtype
        known = output.shape is not None and len(shape) == len(output.shape)
        if known and dtype is not None and isinstance(value, int | float | complex):
            data = LazyData(partial(np.full, shape, value, DTYPES[dtype]))
            op.type, op.params = "pnnx.Attribute", {}
            op.attrs["data"] = Attribute(dtype, shape, data, frozen=True)
            graph.set_inputs(op, [])


WRITERS = ("Tensor.slice_copy", "torch.select_scatter", "torch.slice_scatter")
"""Operators whose result is their first input, but for what `src` is put in the place of."""


def read_back(graph: Graph) -> None:
    """Read what was just written from where it came, so that the rest of it is not needed."""
    for op in graph.of_type("Tensor.select", "Tensor.slice", *WRITERS):
        source = op.inputs[0]
        place = region(op, source)
        if place is None:
            continue
        (output,) = op.outputs
        writer = source.producer
        whole = place[1] == range(sizes(source)[place[0]])
        if op.type in WRITERS:
            same = op.input("src") if whole else None
        elif whole:
            same = source
        elif writer is not None and writer.type in WRITERS:
            same = writer.input("src") if region(writer, source) == place else None
        else:
            same = None
        if same is not None and (same.shape, same.dtype) == (output.shape, output.dtype):
            graph.replace_uses(output, same)


def region(op: Operator, whole: Operand) -> tuple[int, int | range] | None:
    """The dim, and the index or the range of it, that an operator reads or writes, if known."""
    index = op.params.get("index", op.params.get("select"))
    dim, start, end, step = (op.params.get(name) for name in ("dim", "start", "end", "step"))
    extents = sizes(whole)
    if not isinstance(dim, int) or len(extents) != len(whole.shape or ()) or not extents:
        return None
    dim %= len(extents)
    if isinstance(index, int):
        return dim, index % max(extents[dim], 1)
    if not isinstance(step, int) or not isinstance(start, int | None) or "start" not in op.params:
        return None
    if not isinstance(end, int | None) or "end" not in op.params:
        return None
    return dim, range(*slice(start, end, step).indices(extents[dim]))


def sizes(operand: Operand) -> tuple[int, ...]:
    return tuple(dim for dim in operand.shape or () if isinstance(dim, int))


def needed(graph: Graph) -> set[Operator]:
    """The operators that the graph's results depend on."""
    live: set[Operator] = set()
    todo = graph.of_type("pnnx.Output")
    while todo:
        op = todo.pop()
        if op not in live:
            live.add(op)
            todo += [operand.producer for operand in op.inputs if operand.producer is not None]
    return live
