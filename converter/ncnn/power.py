"""Powers. ncnn computes `pow(x, y)` as exp(y log(x)), for x above 0; others are put together."""

from __future__ import annotations

import numpy as np

from converter.ncnn.arithmetic import ADD, MAX, MIN, MUL, POW, RSUB, SUB, binary, unary
from converter.ncnn.blob import Blob
from converter.ncnn.layers import THRESHOLD
from converter.ncnn.op import Op

SMALLEST = 2.0**-126
"""The smallest normal number in single precision, in the place of a base of 0."""

MOST_PRODUCTS = 16
"""Whole powers up to this one are products."""

UNARY_POWERS = {0.5: "sqrt", -0.5: "rsqrt", -1.0: "reciprocal", 2.0: "square"}


def power(op: Op, base: Blob | float, exponent: Blob | float) -> Blob:
    """base ** exponent, not both numbers."""
    if isinstance(base, Blob):
        if isinstance(exponent, Blob):
            return _tensors(op, base, exponent)
        return _constant_exponent(op, base, exponent)
    if base <= 0:
        op.refuse(f"{base} to the power of a tensor is not expressible in ncnn")
    return binary(op, POW, base, exponent)


def _constant_exponent(op: Op, x: Blob, exponent: float) -> Blob:
    if exponent in UNARY_POWERS:
        return unary(op, UNARY_POWERS[exponent], x)
    if exponent == 0:
        return op.constant(op.made(x.shape, lambda: np.ones(op.sizes(x), np.float32)))
    if exponent < 0:
        return unary(op, "reciprocal", _constant_exponent(op, x, -exponent))
    if exponent != int(exponent):
        # NaN below 0, where MIN lets the negative numbers through to the square root.
        undefined = unary(op, "sqrt", binary(op, MIN, x, 0.0))
        return binary(op, ADD, binary(op, POW, binary(op, MAX, x, SMALLEST), exponent), undefined)
    if exponent <= MOST_PRODUCTS:
        return _product(op, x, int(exponent))
    size = binary(op, POW, binary(op, MAX, unary(op, "abs", x), SMALLEST), exponent)
    return binary(op, MUL, size, unary(op, "sign", x)) if exponent % 2 else size


def _product(op: Op, x: Blob, exponent: int) -> Blob:
    """A whole power by squaring."""
    if exponent == 1:
        return x
    even = unary(op, "square", _product(op, x, exponent // 2))
    return binary(op, MUL, even, x) if exponent % 2 else even


def _tensors(op: Op, x: Blob, y: Blob) -> Blob:
    """|x| ** y; where x is negative, times -1 if y is odd, and NaN if y is a fraction."""
    negative = op.emit(THRESHOLD(threshold=0.0), unary(op, "neg", x), shape=x.shape)
    half = unary(op, "floor", binary(op, MUL, y, 0.5))
    odd = binary(op, SUB, y, binary(op, MUL, half, 2.0))
    fraction = binary(op, SUB, y, unary(op, "floor", y))
    size = binary(op, POW, binary(op, MAX, unary(op, "abs", x), SMALLEST), y)
    sign = binary(op, RSUB, binary(op, MUL, binary(op, MUL, negative, odd), 2.0), 1.0)
    undefined = unary(op, "sqrt", unary(op, "neg", binary(op, MUL, negative, fraction)))
    return binary(op, ADD, binary(op, MUL, size, sign), undefined)
