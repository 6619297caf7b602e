"""Constants of the graph, and tensors made of numbers: ranges, and those full of one value."""

from __future__ import annotations

import numpy as np

from converter.ncnn.arithmetic import ADD, MUL, binary
from converter.ncnn.blob import Blob
from converter.ncnn.graph import FLOATS, INTEGERS
from converter.ncnn.joining import expanded
from converter.ncnn.layers import CUMULATIVE_SUM
from converter.ncnn.op import Op
from converter.ncnn.registry import ncnn

VALUES = {
    "torch.ones": 1.0,
    "torch.ones_like": 1.0,
    "torch.zeros": 0.0,
    "torch.zeros_like": 0.0,
}
GIVEN = {"Tensor.fill": "value", "torch.full": "fill_value", "torch.full_like": "fill_value"}


@ncnn("pnnx.Attribute", dtypes="checked")
def attribute(op: Op) -> Blob:
    return op.constant(op.attr("data"))


@ncnn(*VALUES, *GIVEN, dtypes="checked")
def filled(op: Op) -> Blob:
    if op.output.dtype not in FLOATS:
        op.refuse(f"makes {op.output.dtype}, and ncnn holds floats")
    value = VALUES[op.type] if op.type in VALUES else op.number(GIVEN[op.type])
    return _full(op, value)


def _full(op: Op, value: float) -> Blob:
    """A tensor of the operator's shape; one number is spread where that is dynamic."""
    shape = op.shape()
    if all(isinstance(dim, int) for dim in shape):
        return op.constant(op.made(shape, lambda: np.full(op.known(shape), value, np.float32)))
    one = op.made((1,) * len(shape), lambda: np.full((1,) * len(shape), value))
    return expanded(op, op.constant(one), shape)


@ncnn("torch.arange", dtypes="checked")
def arange(op: Op) -> Blob:
    """How many ones there are up to each, times the step, from one step before the start."""
    if op.output.dtype not in (*FLOATS, *INTEGERS):
        op.refuse(f"makes {op.output.dtype}, and ncnn holds floats")
    start, step, (size,) = op.number("start", 0.0), op.number("step", 1.0), op.shape()
    if isinstance(size, int):
        return op.constant(op.made((size,), lambda: start + step * np.arange(size)))
    places = op.emit(CUMULATIVE_SUM(axis=0), op.lay(_full(op, 1.0), None))
    steps = places if step == 1 else binary(op, MUL, places, step)
    return steps if start == step else binary(op, ADD, steps, start - step)


@ncnn("torch.linspace", dtypes="checked")
def linspace(op: Op) -> Blob:
    start, end, (size,) = op.number("start"), op.number("end"), op.known(op.shape())
    return op.constant(op.made((size,), lambda: np.linspace(start, end, size)))
