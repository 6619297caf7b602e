"""Functions of tensors, sizes and numbers that the model works out as it runs."""

from __future__ import annotations

import msgspec

from converter.errors import UnsupportedError
from converter.ir import Operand, Scalar

LIMIT = 512
"""Functions that one expression may nest: what is read twice is written twice."""


class Expr(msgspec.Struct, frozen=True):
    """A function of operands and numbers, such as `add(@0,mul(@1,2))`; make it with `expr`."""

    function: str
    args: tuple[ExprArg, ...]
    length: int


ExprArg = Expr | Operand | Scalar

ITSELF = ""
"""The function that makes an input which is a number of that number."""


def expr(function: str, *args: ExprArg) -> Expr:
    """Raises UnsupportedError for an expression that is longer than LIMIT."""
    length = 1 + sum(arg.length for arg in args if isinstance(arg, Expr))
    if length > LIMIT:
        raise UnsupportedError(f"an expression of more than {LIMIT} functions of sizes")
    return Expr(function, args, length)


def sizes_of(operand: Operand) -> tuple[int | Expr, ...]:
    """The sizes of a tensor whose rank is known; those that are dynamic as `size(@0,1)`."""
    assert operand.shape is not None
    return tuple(
        dim if isinstance(dim, int) else expr("size", operand, place)
        for place, dim in enumerate(operand.shape)
    )


def plus(one: int | Expr, other: int | Expr) -> int | Expr:
    """The sum of two sizes."""
    if isinstance(one, int) and isinstance(other, int):
        return one + other
    return other if one == 0 else expr("add", one, other)
