"""Tensors made of nothing but sizes and numbers: known when the program is read."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from converter.aten.call import Arg, Call
from converter.aten.dtype import torch_dtype
from converter.aten.emit import Emitter
from converter.aten.expr import Expr
from converter.aten.registry import lowers, overloads
from converter.ir import DTYPES, Array, Attribute, LazyData, Operand

LIMIT = 1 << 30
"""Bytes that a constant may have; a larger one is refused instead of filling the model's file."""

Number = bool | int | float | complex


def store(call: Call, emit: Emitter, values: Callable[[], Array]) -> None:
    """Let the result be a stored tensor, whose values are worked out when they are written."""
    emit.attribute(call.output, made(call, dtype_of(call), call.sizes(call.output), values))


def made(call: Call, dtype: str, shape: tuple[int, ...], values: Callable[[], Array]) -> Attribute:
    """A tensor of that dtype and shape. Raises UnsupportedError for one that is too large."""
    attribute = Attribute(dtype, shape, LazyData(values), frozen=True)
    if attribute.nbytes > LIMIT:
        raise call.refuse(
            f"the constant would have {attribute.nbytes} bytes, more than {LIMIT}",
            "make it smaller, or pass it as an input",
        )
    return attribute


def check_shape(call: Call, shape: Sequence[int]) -> None:
    """Refuse a result that its arguments give another shape than the file says."""
    if call.output.shape != tuple(shape):
        told = ",".join(map(str, call.output.shape or ()))
        raise call.refuse(
            f"its result has the shape ({','.join(map(str, shape))}), and the file says ({told})",
            "export the model again",
        )


def dtype_of(call: Call) -> str:
    dtype = call.output.dtype
    assert dtype is not None
    return dtype


def filled(call: Call, emit: Emitter, name: str, value: Number | Expr) -> None:
    """A tensor of the result's shape and dtype, full of one value: `torch.zeros` by name, say."""
    if isinstance(value, Expr) or not is_static(call.output):
        filled_later(call, emit, name, value)
        return
    shape, dtype = call.sizes(call.output), DTYPES[dtype_of(call)]
    size = call.args.get("size", () if "s" in call.args else None)
    if isinstance(size, tuple) and all(isinstance(item, int) for item in size):
        check_shape(call, call.integers("size") if size else ())
    elif "self" in call.args and "size" not in call.args:
        check_shape(call, call.sizes(call.tensor("self")))
    exact = np.asarray(value)
    if exact.dtype.kind == "c" != dtype.kind:
        raise call.refuse(f"{value} is complex, its result is not")
    if dtype.itemsize == 2 and exact.dtype.kind == "f":
        exact = exact.astype(np.float32)  # torch rounds twice on the way to half precision
    store(call, emit, lambda: np.full(shape, exact.astype(dtype)))


def filled_later(call: Call, emit: Emitter, name: str, value: Number | Expr) -> None:
    """The same of dynamic dims, which are those of `self` or given."""
    arguments: dict[str, Arg] = {} if name != "full" else {"fill_value": value}
    if call.target.split(".")[1].endswith("_like"):
        by_torch(call, emit, f"torch.{name}_like", input=call.tensor("self"), **arguments)
    else:
        by_torch(call, emit, f"torch.{name}", size=call.args.get("size", ()), **arguments)


@lowers(
    *overloads("zeros zeros_like new_zeros empty_like new_empty new_empty_strided empty_strided"),
    *("empty.memory_format", "empty_permuted.default"),
)
def zeros(call: Call, emit: Emitter) -> None:
    """An empty tensor may hold anything; zeros are as good, and the same in every run."""
    filled(call, emit, "zeros", 0)


@lowers(*overloads("ones ones_like new_ones"))
def ones(call: Call, emit: Emitter) -> None:
    filled(call, emit, "ones", 1)


@lowers(*overloads("full full_like new_full"))
def full(call: Call, emit: Emitter) -> None:
    filled(call, emit, "full", number(call, "fill_value"))


@lowers("scalar_tensor.default", "prims.scalar_tensor.default")
def scalar_tensor(call: Call, emit: Emitter) -> None:
    filled(call, emit, "full", number(call, "s"))


def number(call: Call, arg: str) -> Number | Expr:
    value = call.args[arg]
    return value if isinstance(value, Expr) else call.number_or_complex(arg)


@lowers(*overloads("arange", "default", "start", "start_step"))
def arange(call: Call, emit: Emitter) -> None:
    """Whole numbers are stored; torch's rounding of fractions depends on the machine."""
    if not is_static(call.output):
        computed(call, emit)
        return
    start = call.number("start") if "start" in call.args else 0
    step = call.number("step") if "step" in call.args else 1
    if call.rank(call.output) != 1:
        raise call.refuse(f"its result is of rank {call.rank(call.output)}, not 1")
    (count,) = call.sizes(call.output)
    dtype = DTYPES[dtype_of(call)]
    end = call.number("end")
    if step and math.isfinite(start) and math.isfinite(end) and math.isfinite(step):
        check_shape(call, (max(math.ceil((end - start) / step), 0),))
    largest = max(abs(start), abs(start + step * max(count - 1, 0)))
    whole = float(start).is_integer() and float(step).is_integer()
    if whole and largest <= EXACT.get(dtype_of(call), largest):
        first, stride = int(start), int(step)
        store(call, emit, lambda: (first + stride * np.arange(count)).astype(dtype))
    else:
        by_torch(call, emit, "torch.arange", start=start, end=call.number("end"), step=step)


EXACT = {"bf16": 2**8, "f16": 2**11, "f32": 2**24, "f64": 2**53}
"""Up to these all integers are floating-point numbers."""


@lowers("eye.default", "eye.m")
def eye(call: Call, emit: Emitter) -> None:
    if not is_static(call.output):
        computed(call, emit)
        return
    rows = call.integer("n")
    columns = call.integer("m") if "m" in call.args else rows
    check_shape(call, (rows, columns))
    dtype = DTYPES[dtype_of(call)]
    store(call, emit, lambda: np.eye(rows, columns).astype(dtype))


@lowers("tril_indices.default")
def tril_indices(call: Call, emit: Emitter) -> None:
    indices(call, emit, np.tril_indices)


@lowers("triu_indices.default")
def triu_indices(call: Call, emit: Emitter) -> None:
    indices(call, emit, np.triu_indices)


def indices(call: Call, emit: Emitter, make: Callable[[int, int, int], tuple[Array, ...]]) -> None:
    if not is_static(call.output):
        computed(call, emit)
        return
    rows, columns, offset = (call.integer(name) for name in ("row", "col", "offset"))
    if rows * columns > LIMIT:
        raise call.refuse(f"it looks for them among {rows} x {columns}", "make it smaller")
    below = triangle(rows, columns, offset - (make is np.triu_indices))
    check_shape(call, (2, below if make is np.tril_indices else rows * columns - below))
    dtype = DTYPES[dtype_of(call)]
    store(call, emit, lambda: np.stack(make(rows, offset, columns)).astype(dtype))


def triangle(rows: int, columns: int, offset: int) -> int:
    """How many elements are on or below a diagonal."""
    first = min(max(-offset, 0), rows)  # the rows before it have none, those from `full` on all
    full = min(max(columns - offset - 1, first), rows)
    return (full - first) * (first + full + 1 + 2 * offset) // 2 + (rows - full) * columns


def is_static(operand: Operand) -> bool:
    return operand.shape is not None and all(isinstance(dim, int) for dim in operand.shape)


def by_torch(call: Call, emit: Emitter, type: str, **arguments: Arg) -> None:
    """A tensor that the generated module makes, in the dtype that the program tells."""
    emit.op(type, call.output, **arguments, dtype=torch_dtype(dtype_of(call)))


PLACE = frozenset({"dtype", "layout", "device", "pin_memory"})


@lowers(
    *overloads("linspace logspace", "default", "Scalar_Tensor", "Tensor_Scalar", "Tensor_Tensor"),
    *overloads("bartlett_window blackman_window hann_window", "default", "periodic"),
    *overloads("hamming_window", "default", "periodic", "periodic_alpha", "periodic_alpha_beta"),
    *overloads("kaiser_window", "default", "periodic", "beta"),
)
def computed(call: Call, emit: Emitter) -> None:
    arguments = {name: value for name, value in call.args.items() if name not in PLACE}
    by_torch(call, emit, f"torch.{call.target.split('.')[1]}", **arguments)


@lowers("fft_fftfreq.default", "fft_rfftfreq.default")
def frequencies(call: Call, emit: Emitter) -> None:
    name = call.target.split(".")[1].removeprefix("fft_")
    by_torch(call, emit, f"torch.fft.{name}", n=call.integer("n"), d=call.number("d"))
