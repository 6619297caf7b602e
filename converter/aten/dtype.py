"""PyTorch's names of dtypes, as pnnx writes them, and how dtypes combine."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from converter.aten.call import Arg
from converter.aten.emit import Emitter
from converter.ir import DTYPES, Array, Operand

TORCH_NAMES = {
    "f32": "torch.float",
    "f64": "torch.double",
    "f16": "torch.half",
    "bf16": "torch.bfloat16",
    "u8": "torch.uint8",
    "i8": "torch.int8",
    "i16": "torch.short",
    "i32": "torch.int",
    "i64": "torch.long",
    "bool": "torch.bool",
    "c64": "torch.complex64",
    "c128": "torch.complex128",
}

KINDS = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}
"""Boolean, integer, floating and complex: a later kind wins over an earlier one."""


def torch_dtype(name: Arg) -> str:
    """`torch.float` of `f32`. Raises KeyError for one that pnnx lacks."""
    assert isinstance(name, str)
    return TORCH_NAMES[name]


def cast(emit: Emitter, source: Operand, dtype: str) -> Operand:
    """Convert a tensor to another dtype (`f32`); the result is a temporary of the call."""
    result = emit.temporary(source.shape, dtype)
    convert(emit, result, source, dtype)
    return result


def convert(emit: Emitter, output: Operand, source: Operand, dtype: str) -> None:
    """Let `output` be a tensor in another dtype (`f32`)."""
    emit.op("Tensor.to", output, input=source, copy=False, dtype=torch_dtype(dtype))


def result_type(operands: Sequence[Operand]) -> str | None:
    """The dtype in which PyTorch combines tensors (torch.result_type); None where one is unknown.

    Tensors without dims count only where they are of a later kind than all others.
    """
    with_dims: str | None = None
    without: str | None = None
    for operand in operands:
        if operand.dtype is None or operand.shape is None:
            return None
        if operand.shape:
            with_dims = promoted(with_dims, operand.dtype)
        else:
            without = promoted(without, operand.dtype)
    if with_dims is None or without is None:
        return with_dims or without
    if kind(without) <= kind(with_dims):
        return with_dims
    if kind(without) == COMPLEX and kind(with_dims) == FLOATING:
        return "c128" if with_dims == "f64" else "c64"
    return promoted(with_dims, without)


def number(value: bool | int | float | complex, results: Sequence[Operand]) -> Array:
    """Make a tensor without dims of a number, in the dtype that PyTorch chooses, or in that of the
    first result where it is of the same kind.
    """
    dtype = DEFAULTS[type(value)]
    if results and results[0].dtype is not None and kind(results[0].dtype) == kind(dtype):
        dtype = results[0].dtype
    return np.asarray(value, DTYPES[dtype])


DEFAULTS = {bool: "bool", int: "i64", float: "f32", complex: "c64"}
COMPLEX, FLOATING = KINDS["c"], KINDS["f"]


def kind(dtype: str) -> int:
    return FLOATING if dtype == "bf16" else KINDS[DTYPES[dtype].kind]


def promoted(one: str | None, other: str) -> str:
    """The dtype that holds both (torch.promote_types)."""
    if one is None or one == other:
        return other
    later, earlier = (one, other) if kind(one) >= kind(other) else (other, one)
    if kind(later) != kind(earlier):
        return "c128" if later == "c64" and earlier == "f64" else later
    if {one, other} == {"f16", "bf16"}:
        return "f32"
    if {one, other} == {"i8", "u8"}:
        return "i16"
    return max(one, other, key=lambda name: DTYPES[name].itemsize)
