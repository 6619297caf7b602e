"""Join slices and selections of several dims into one `Tensor.slice`, as pnnx writes `x[1, :, 2:]`.

Where one select or slice reads another, the first one is left for its other readers.
"""

from __future__ import annotations

from typing import NamedTuple

from converter.ir import Graph, Operator, Param
from converter.passes.base import Pass

OPEN = 2**31 - 1
"""How pnnx writes an end that is open, and that nothing of a dim is selected."""


class Part(NamedTuple):
    """What is taken of one dim: the index `select`, or a range where that is OPEN."""

    dim: int
    start: int
    end: int
    step: int
    select: int


class MergeSlices(Pass):
    """Before: `Tensor.select x -> a dim=0 index=1`, `Tensor.slice a -> y dim=1 start=2 …`.

    After: `Tensor.slice x -> y dims=(0,2) selects=(1,OPEN) starts=(0,2) …`. Dims count in x, and
    join in rising order only, each once.
    """

    def run(self, graph: Graph) -> int:
        return sum(merge(graph, op) for op in graph.of_type("Tensor.slice", "Tensor.select"))


def merge(graph: Graph, op: Operator) -> bool:
    before = op.inputs[0].producer
    if before is None or before.type not in ("Tensor.slice", "Tensor.select"):
        return False
    first, second = parts(before), parts(op)
    if first is None or second is None or len(second) != 1:
        return False
    dim = source_dim(first, second[0].dim)
    if dim <= first[-1].dim:
        return False
    joined = [*first, second[0]._replace(dim=dim)]
    op.type = "Tensor.slice"
    op.params = {f"{name}s": tuple(getattr(part, name) for part in joined) for name in Part._fields}
    graph.set_inputs(op, before.inputs, before.input_names)
    return True


def parts(op: Operator) -> list[Part] | None:
    """What an operator takes of its input, dims counted from the front; None if it is computed."""
    shape, params = op.inputs[0].shape, op.params
    if shape is None or len(op.inputs) != 1:
        return None
    columns: list[Param]
    if op.type == "Tensor.select":
        columns = [params["dim"], 0, 0, 0, params["index"]]
    elif "dims" in params:
        columns = [params[f"{name}s"] for name in Part._fields]
    else:
        columns = [params["dim"], params["start"], params["end"], params["step"], OPEN]
    taken = []
    for row in zip(*map(as_tuple, columns), strict=True):
        numbers = [number for number in row if isinstance(number, int)]
        if len(numbers) != len(row):
            return None
        taken.append(Part(numbers[0] % len(shape), *numbers[1:]))
    return taken


def as_tuple(value: Param) -> tuple[Param, ...]:
    return value if isinstance(value, tuple) else (value,)


def source_dim(taken: list[Part], dim: int) -> int:
    """Which dim of the source the dim of a result is: selected ones are gone."""
    for part in taken:
        if part.select != OPEN and part.dim <= dim:
            dim += 1
    return dim
