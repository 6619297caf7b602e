"""Symbolic dims: their values once the inputs' shapes are known, and what stays dynamic."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Mapping

from converter.arithmetic import UnknownSymbolError, evaluate
from converter.dims import simplify
from converter.errors import UnsupportedError
from converter.ir import Dim, Shape

UNBACKED = re.compile(r"\b(u|zuf)\d+\b")
"""The symbols that torch.export gives to what depends on values: the number of a mask's Trues."""

UNREADABLE = (SyntaxError, ValueError, ArithmeticError, RecursionError, MemoryError)
"""What working out an expression raises that is none."""

UNKNOWN_SIZE = 128
"""What a dim of unknown size counts when inputs are drawn, as in pnnx."""


class Symbols:
    """The known values of a program's symbols, and expressions over them.

    `examples` are sizes of symbols that stay dynamic: those that inputs are drawn with.
    """

    def __init__(
        self,
        values: Mapping[str, int] | None = None,
        examples: Mapping[str, int] | None = None,
    ) -> None:
        self.values = dict(values or {})
        self.examples = dict(examples or {})

    def evaluate(self, expression: str | bool | int | float) -> bool | int | float:
        """Work out an expression such as `2*s0+1`.

        Raises UnsupportedError for a symbol without a value and for a function that is not known.
        """
        try:
            value = self._evaluate(expression)
        except UnknownSymbolError as error:
            raise unknown(error.args[0]) from None
        return value

    def number(self, expression: str | bool | int | float) -> bool | int | float | None:
        """Work out an expression, as `evaluate` does; None where a dynamic symbol decides it."""
        try:
            return self._evaluate(expression)
        except UnknownSymbolError:
            return None

    def size(self, expression: str | bool | int | float) -> int:
        """Work out an expression that must be an int."""
        value = self.evaluate(expression)
        if not math.isfinite(value) or value != int(value):
            raise UnsupportedError(f"the symbolic dim {expression!r} is {value}, not an int")
        return int(value)

    def shape(self, dims: Shape) -> tuple[int, ...]:
        """Work out every dim of an input."""
        return tuple(dim if isinstance(dim, int) else self.size(dim) for dim in dims)

    def known(self, dims: Shape) -> Shape:
        """Work out the dims whose symbols are known; others become expressions of the rest."""
        return tuple(dim if isinstance(dim, int) else self.dim(dim) for dim in dims)

    def dim(self, expression: str) -> Dim:
        number = self.number(expression)
        if number is not None:
            return self.size(number)
        try:
            return simplify(expression, self.values)
        except UNREADABLE as error:
            raise unreadable(expression) from error

    def _evaluate(self, expression: str | bool | int | float) -> bool | int | float:
        if not isinstance(expression, str):
            return expression
        if expression in self.values:
            return self.values[expression]
        try:
            return evaluate(ast.parse(expression, mode="eval").body, self.values)
        except UNREADABLE as error:
            raise unreadable(expression) from error


def drawn_shape(dims: Shape, sizes: Mapping[str, int]) -> tuple[int, ...]:
    """The shape that an input is drawn with, by examples of its symbols; `?` is a size unknown."""
    known = Symbols(sizes)
    return tuple(UNKNOWN_SIZE if dim == "?" else known.shape((dim,))[0] for dim in dims)


def unknown(symbol: str) -> UnsupportedError:
    if UNBACKED.fullmatch(symbol):
        return UnsupportedError(
            f"the size or number {symbol} depends on the values of tensors",
            mend="keep it a tensor, without item(), or work it out from the shapes of the inputs",
        )
    return UnsupportedError(f"the dim {symbol} is dynamic", mend="fix it with inputshape=[…]")


def unreadable(expression: str) -> UnsupportedError:
    return UnsupportedError(
        f"the symbolic value {expression[:80]!r} cannot be read",
        mend="export the model without dynamic shapes",
    )
