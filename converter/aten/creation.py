"""Tensors made of nothing but sizes and numbers: known when the program is read."""

from __future__ import annotations

import numpy as np

from converter.aten.call import Call
from converter.aten.emit import Emitter
from converter.aten.registry import lowers
from converter.ir import DTYPES, Array, Attribute, LazyData

LIMIT = 1 << 30
"""Bytes that a constant may have; a larger one is refused instead of filling the model's file."""


def constant(call: Call, emit: Emitter, values: Array) -> None:
    """Store the result; it is the expression of a few numbers, worked out when it is written."""
    store(call, emit, Attribute.of(values))


def store(call: Call, emit: Emitter, attribute: Attribute) -> None:
    emit.attribute(call.output, attribute)


def filled(call: Call, emit: Emitter, value: bool | int | float | complex) -> None:
    """A tensor of the result's shape and dtype, full of one value."""
    output = call.output
    if output.shape is None or output.dtype is None:
        raise call.refuse("the result's shape is unknown")
    shape = tuple(dim for dim in output.shape if isinstance(dim, int))
    dtype = DTYPES[output.dtype]
    attribute = Attribute(
        output.dtype, shape, LazyData(lambda: np.full(shape, np.asarray(value).astype(dtype)))
    )
    if attribute.nbytes > LIMIT:
        raise call.refuse(
            f"the constant would have {attribute.nbytes} bytes, more than {LIMIT}",
            "make it smaller, or pass it as an input",
        )
    store(call, emit, attribute)


@lowers(
    "zeros.default",
    "zeros_like.default",
    "new_zeros.default",
    "empty.memory_format",
    "empty_like.default",
    "new_empty.default",
)
def zeros(call: Call, emit: Emitter) -> None:
    """An empty tensor may hold anything; zeros are as good, and the same in every run."""
    filled(call, emit, 0)


@lowers("ones.default", "ones_like.default", "new_ones.default")
def ones(call: Call, emit: Emitter) -> None:
    filled(call, emit, 1)


@lowers("full.default", "full_like.default", "new_full.default")
def full(call: Call, emit: Emitter) -> None:
    filled(call, emit, call.number_or_complex("fill_value"))


@lowers("scalar_tensor.default")
def scalar_tensor(call: Call, emit: Emitter) -> None:
    filled(call, emit, call.number_or_complex("s"))


@lowers("arange.default", "arange.start", "arange.start_step")
def arange(call: Call, emit: Emitter) -> None:
    """`start + i * step`, worked out in the accumulation type as torch does, then converted."""
    start = call.number_or_complex("start") if "start" in call.args else 0
    step = call.number_or_complex("step") if "step" in call.args else 1
    output = call.output
    assert output.shape is not None
    assert output.dtype is not None
    (count,) = output.shape
    assert isinstance(count, int)
    dtype = DTYPES[output.dtype]
    if count * dtype.itemsize > LIMIT:
        raise call.refuse(f"the constant would have more than {LIMIT} bytes")
    work = np.int64 if dtype.kind in "iu" else np.float64
    values = np.asarray(start).astype(work) + np.arange(count).astype(work) * np.asarray(
        step
    ).astype(work)
    constant(call, emit, values.astype(dtype))


@lowers("eye.default", "eye.m")
def eye(call: Call, emit: Emitter) -> None:
    output = call.output
    assert output.shape is not None
    assert output.dtype is not None
    rows, columns = (dim for dim in output.shape if isinstance(dim, int))
    constant(call, emit, np.eye(rows, columns, dtype=DTYPES[output.dtype]))
