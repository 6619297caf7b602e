"""Buffers that the model changes as it runs. A graph keeps nothing from one call to the next."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from converter.archive.program import OutputKind, Program
from converter.archive.values import TensorRef
from converter.errors import UnsupportedError, Where
from converter.ir import DTYPES, Attribute, Graph, LazyData, Operator

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
        value, shape, dtype = op.params.get("value"), output.shape or (), output.dtype
        if output.shape is None or dtype is None or not isinstance(value, int | float | complex):
            continue
        sizes = tuple(dim for dim in shape if isinstance(dim, int))
        if len(sizes) == len(shape):
            data = LazyData(partial(np.full, sizes, value, DTYPES[dtype]))
            op.type, op.params = "pnnx.Attribute", {}
            op.attrs["data"] = Attribute(dtype, sizes, data)
            graph.set_inputs(op, [])


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
