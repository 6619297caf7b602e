"""Comparisons, logic, and choices by a mask. ncnn has no booleans: true is 1.0, false 0.0."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from converter.ir import Array
from converter.ncnn.arithmetic import ADD, MAX, MIN, MUL, RSUB, SUB, binary, unary
from converter.ncnn.blob import Blob
from converter.ncnn.graph import FLOATS, computed
from converter.ncnn.layers import THRESHOLD
from converter.ncnn.op import Op
from converter.ncnn.registry import ncnn

Number = Blob | float

LARGEST = float(np.finfo(np.float32).max)


def inverted(op: Op, mask: Blob) -> Blob:
    return binary(op, RSUB, mask, 1.0)


def nonzero(op: Op, x: Blob) -> Blob:
    return greater(op, unary(op, "abs", x), 0.0)


def greater(op: Op, a: Number, b: Number) -> Blob:
    """a > b, not both numbers."""
    if isinstance(b, Blob):
        a, b = (binary(op, SUB, a, b), 0.0) if isinstance(a, Blob) else (unary(op, "neg", b), -a)
    assert isinstance(a, Blob)
    return op.emit(THRESHOLD(threshold=b), a, shape=a.shape)


@ncnn("torch.gt", "torch.lt", "torch.ge", "torch.le", "torch.eq", "torch.ne", dtypes="checked")
def compare(op: Op) -> Blob:
    a: Number = _checked(op, op.need("input", 0))
    other = op.argument("other", 1)
    b: Number = op.number("other") if other is None else _checked(op, other)
    match op.type:
        case "torch.gt":
            return greater(op, a, b)
        case "torch.lt":
            return greater(op, b, a)
        case "torch.ge":
            return inverted(op, greater(op, b, a))
        case "torch.le":
            return inverted(op, greater(op, a, b))
    differs = binary(op, MAX, greater(op, a, b), greater(op, b, a))
    return differs if op.type == "torch.ne" else inverted(op, differs)


def _checked(op: Op, x: Blob) -> Blob:
    if x.dtype not in (*FLOATS, "bool"):
        op.refuse(f"compares {x.dtype}, and ncnn floats", "convert it with .float()")
    return x


@ncnn("torch.logical_not", "torch.bitwise_not", dtypes="checked")
def logical_not(op: Op) -> Blob:
    x = op.blob()
    if x.dtype != "bool":
        op.refuse(f"inverts {x.dtype}", "compare it first")
    return inverted(op, x)


@ncnn("torch.bitwise_and", "torch.bitwise_or", "torch.bitwise_xor", dtypes="checked")
def bitwise(op: Op) -> Blob:
    a, b = op.need("input", 0), op.need("other", 1)
    return logical(op, op.type.removeprefix("torch.bitwise_"), a, b)


def logical(op: Op, word: str, a: Blob, b: Blob) -> Blob:
    """`and`, `or` or `xor` of two masks."""
    if (a.dtype, b.dtype) != ("bool", "bool"):
        op.refuse(f"{word} of {a.dtype} and {b.dtype} is not expressible in ncnn")
    if word == "xor":
        made = unary(op, "abs", binary(op, SUB, a, b))
    else:
        made = binary(op, MUL if word == "and" else MAX, a, b)
    return replace(made, dtype="bool")


def chosen(op: Op, mask: Blob, a: Number, b: Number) -> Blob:
    """a where the mask is true, else b: a * mask + b * (1 - mask), for finite values.

    A number that is infinite is the bound of a minimum or maximum, which it is where the mask says.
    """
    a, b = masked(op, a), masked(op, b)
    if not isinstance(a, Blob) and math.isinf(a):
        return chosen(op, inverted(op, mask), b, a)
    if not isinstance(b, Blob) and math.isinf(b):
        # Beyond the largest number, of either sign.
        bound = binary(op, MUL, binary(op, SUB, mask, 0.5), math.copysign(LARGEST, -b))
        return binary(op, MIN if b < 0 else MAX, binary(op, MUL, bound, 4.0), a)
    first = binary(op, MUL, mask, a)
    return first if b == 0 else binary(op, ADD, first, binary(op, MUL, inverted(op, mask), b))


def masked(op: Op, value: Number) -> Number:
    """What a mask chooses: a stored tensor of one infinite number is that number, others, which
    times 0 would be NaN, are refused.
    """
    if not isinstance(value, Blob) or value.values is None:
        return value
    stored = value.values.array()
    if np.isfinite(stored).all():
        return value
    if stored.shape != () or np.isnan(stored):
        op.refuse("chooses from a stored tensor that is not finite", "use large numbers instead")
    return float(stored)


@ncnn("torch.where", dtypes="checked")
def where(op: Op) -> Blob:
    mask = _mask(op, op.need("condition", 0))
    given = [_choice(op, name, index) for index, name in enumerate(("input", "other"), start=1)]
    return chosen(op, mask, *given)


def _choice(op: Op, name: str, index: int) -> Number:
    blob = op.argument(name, index)
    return op.number(name) if blob is None else _checked(op, blob)


@ncnn("Tensor.masked_fill", "torch.masked_fill", dtypes="checked")
def masked_fill(op: Op) -> Blob:
    mask = _mask(op, op.need("mask", 1))
    return chosen(op, mask, op.number("value"), _checked(op, op.need("input", 0)))


def _mask(op: Op, mask: Blob) -> Blob:
    if mask.dtype != "bool":
        op.refuse(f"its mask is of {mask.dtype}", "compare it first")
    return mask


@ncnn("torch.triu", "torch.tril")
def triangle(op: Op) -> Blob:
    """What is on one side of a diagonal, 0 on the other, which bounds of 0 make it."""
    x, diagonal = op.blob(), op.integer("diagonal", 0)
    cut = np.triu if op.type == "torch.triu" else np.tril
    if x.values is not None:
        values = x.values
        return op.constant(
            computed(values.shape, lambda: _cut(cut(values.array(), diagonal)), values.dtype)
        )
    sizes = op.sizes(x)[-2:]

    def bound(sign: int) -> Blob:
        """Infinity on the side that is kept, 0 on the other."""
        infinite, zero = np.float32(sign * np.inf), np.float32(sign * 0.0)
        return op.constant(
            op.made(sizes, lambda: np.where(cut(np.ones(sizes, bool), diagonal), infinite, zero))
        )

    x = binary(op, MIN, x, bound(1))
    return binary(op, MAX, x, bound(-1))


def _cut(values: Array) -> Array:
    return np.ascontiguousarray(values)
