"""Whole quotients, and what they leave.

ncnn multiplies with reciprocals, by which 41 / 41 is below 1: a quotient that is made whole is put
right by what it leaves.
"""

from __future__ import annotations

import math

from converter.ncnn.arithmetic import ADD, DIV, MUL, SMALLEST, SUB, binary, unary
from converter.ncnn.blob import Blob
from converter.ncnn.boolean import Number, greater
from converter.ncnn.op import Op


def floor_divide(op: Op, a: Number, b: Number) -> Blob:
    """floor(a / b), one more where b is left, one less where what is left has not the sign of b."""
    quotient = unary(op, "floor", binary(op, DIV, a, b))
    left = _left(op, a, b, quotient)
    sign = unary(op, "sign", b) if isinstance(b, Blob) else math.copysign(1.0, b)
    whole = greater(op, binary(op, MUL, binary(op, SUB, left, b), sign), -SMALLEST)
    below = greater(op, unary(op, "neg", binary(op, MUL, left, sign)), 0.0)
    return binary(op, SUB, binary(op, ADD, quotient, whole), below)


def ceil_divide(op: Op, a: Number, b: Number) -> Blob:
    """ceil(a / b)"""
    negative = unary(op, "neg", a) if isinstance(a, Blob) else -a
    return unary(op, "neg", floor_divide(op, negative, b))


def trunc_divide(op: Op, a: Number, b: Number) -> Blob:
    """a / b cut off at the point"""
    sizes = (unary(op, "abs", x) if isinstance(x, Blob) else abs(x) for x in (a, b))
    sign = unary(op, "sign", binary(op, DIV, a, b))
    return binary(op, MUL, floor_divide(op, *sizes), sign)


def remainder(op: Op, a: Number, b: Number) -> Blob:
    """What the floor of a / b leaves, of the sign of b."""
    return _left(op, a, b, floor_divide(op, a, b))


def fmod(op: Op, a: Number, b: Number) -> Blob:
    """What a / b leaves that is cut off, of the sign of a."""
    return _left(op, a, b, trunc_divide(op, a, b))


def _left(op: Op, a: Number, b: Number, quotient: Blob) -> Blob:
    return binary(op, SUB, a, binary(op, MUL, quotient, b))


DIVISIONS = {
    "ceil_divide": ceil_divide,
    "floor_divide": floor_divide,
    "fmod": fmod,
    "remainder": remainder,
    "trunc_divide": trunc_divide,
}
"""By the names that expressions have for them, and WHOLE."""

WHOLE = {"ceil": "ceil_divide", "floor": "floor_divide", "trunc": "trunc_divide"}
"""By the function that makes a quotient whole."""
