"""What in-place operators that only write become: the new value of the tensor."""

from __future__ import annotations

from math import prod

import numpy as np

from converter.aten.call import Call
from converter.aten.creation import made
from converter.aten.dtype import cast
from converter.aten.emit import Emitter
from converter.aten.expr import sizes_of
from converter.aten.indexing import stored_number
from converter.aten.memory import ROW_MAJOR, lies
from converter.aten.registry import lowers
from converter.ir import DTYPES


@lowers("fill.Scalar")
def fill(call: Call, emit: Emitter) -> None:
    value = call.number_or_complex("value")
    emit.op("Tensor.fill", call.output, input=call.tensor("self"), value=value)


@lowers("fill.Tensor")
def fill_tensor(call: Call, emit: Emitter) -> None:
    value = stored_number(call.tensor("value"))
    emit.op("Tensor.fill", call.output, input=call.tensor("self"), value=value)


@lowers("zero.default")
def zero(call: Call, emit: Emitter) -> None:
    emit.op("Tensor.fill", call.output, input=call.tensor("self"), value=0)


@lowers("fill_diagonal.default")
def fill_diagonal(call: Call, emit: Emitter) -> None:
    """Row-major, the elements of a diagonal are equally far apart: of a tall matrix, `wrap` goes on
    below the square.
    """
    source = call.tensor("self")
    shape = call.sizes(source)
    step = sum(prod(shape[dim + 1 :]) for dim in range(len(shape)))
    end = min(min(shape) * step, prod(shape))
    if call.flag("wrap") and len(shape) == 2:
        if not lies(shape, call.strides["self"], ROW_MAJOR):
            raise call.refuse("where it goes on depends on how the tensor lies in memory")
        end = prod(shape)
    count, value = len(range(0, end, step)), call.number_or_complex("fill_value")
    dtype = str(source.dtype)
    values = made(call, dtype, (count,), lambda: np.full(count, value).astype(DTYPES[dtype]))
    stored = emit.temporary((count,), dtype)
    emit.attribute(stored, values)
    flat, filled = (emit.temporary((prod(shape),), source.dtype) for _ in range(2))
    emit.op("Tensor.reshape", flat, input=source, shape=(-1,))
    emit.op(
        "Tensor.slice_copy",
        filled,
        self=flat,
        src=stored,
        dim=0,
        start=0,
        end=end,
        step=step,
    )
    emit.op("Tensor.reshape", call.output, input=filled, shape=shape)


@lowers("copy.default")
def copy(call: Call, emit: Emitter) -> None:
    """The source, in the dtype and shape of what it is copied to; `x.copy_(2)` copies a number."""
    target = call.tensor("self")
    if isinstance(call.args["src"], bool | int | float | complex):
        value = call.number_or_complex("src")
        emit.op("Tensor.fill", call.output, input=target, value=value)
        return
    source = call.tensor("src")
    if source.dtype != target.dtype:
        source = cast(emit, source, str(target.dtype))
    if source.shape == target.shape:
        emit.alias(call.output, source)
    else:
        emit.op("Tensor.expand", call.output, input=source, sizes=sizes_of(target))
