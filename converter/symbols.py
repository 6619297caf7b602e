"""Symbolic dims: their values once the inputs' shapes are known."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from converter.errors import UnsupportedError
from converter.ir import Shape

BINARY: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Div: lambda a, b: a / b,
    ast.Mod: lambda a, b: a % b,
}
COMPARE: Mapping[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: lambda a, b: a == b,
    ast.NotEq: lambda a, b: a != b,
    ast.Lt: lambda a, b: a < b,
    ast.LtE: lambda a, b: a <= b,
    ast.Gt: lambda a, b: a > b,
    ast.GtE: lambda a, b: a >= b,
}
FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "CeilToInt": math.ceil,
    "FloorDiv": lambda a, b: a // b,
    "FloorToInt": math.floor,
    "IntTrueDiv": lambda a, b: a / b,
    "FloatPow": lambda a, b: float(a) ** b,
    "FloatTrueDiv": lambda a, b: a / b,
    "Max": max,
    "Min": min,
    "Mod": lambda a, b: a % b,
    "PythonMod": lambda a, b: a % b,
    "ToFloat": float,
    "OpaqueUnaryFn_sqrt": math.sqrt,
    "TruncToInt": math.trunc,
    "ceiling": math.ceil,
    "floor": math.floor,
}
"""The functions of torch's symbolic expressions (torch/utils/_sympy/functions.py)."""

UNBACKED = re.compile(r"\b(u|zuf)\d+\b")
"""The symbols that torch.export gives to what depends on values: the number of a mask's Trues."""


class Symbols:
    """The known values of a program's symbols, and expressions over them."""

    def __init__(self, values: Mapping[str, int] | None = None) -> None:
        self.values = dict(values or {})

    def evaluate(self, expression: str | bool | int | float) -> bool | int | float:
        """Work out an expression such as `2*s0+1`.

        Raises UnsupportedError for a symbol without a value and for a function that is not known.
        """
        if not isinstance(expression, str):
            return expression
        if expression in self.values:
            return self.values[expression]
        try:
            tree = ast.parse(expression, mode="eval").body
            value = self._node(tree)
        except (SyntaxError, ValueError, ArithmeticError, RecursionError, MemoryError) as error:
            raise UnsupportedError(
                f"the symbolic value {expression[:80]!r} cannot be read",
                mend="export the model without dynamic shapes",
            ) from error
        assert isinstance(value, bool | int | float)
        return value

    def size(self, expression: str | bool | int | float) -> int:
        """Work out an expression that must be an int."""
        value = self.evaluate(expression)
        if value != int(value):
            raise UnsupportedError(f"the symbolic dim {expression!r} is {value}, not an int")
        return int(value)

    def shape(self, dims: Shape) -> tuple[int, ...]:
        """Work out every dim of an input."""
        return tuple(dim if isinstance(dim, int) else self.size(dim) for dim in dims)

    def known(self, dims: Shape) -> Shape:
        """Work out the dims that shapes decide; those that values of tensors decide stay as is."""
        return tuple(
            dim if isinstance(dim, int) or UNBACKED.search(dim) else self.size(dim) for dim in dims
        )

    def _node(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=bool() | int() | float() as value):
                return value
            case ast.Name(id=name):
                if name in self.values:
                    return self.values[name]
                raise unknown(name)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self._node(operand)
            case ast.BinOp(left=left, op=ast.Pow(), right=right):
                base, exponent = self._node(left), self._node(right)
                if abs(exponent) > 64 or abs(base) > 2**31:
                    raise ValueError("out of bounds")
                return base**exponent
            case ast.BinOp(left=left, op=op, right=right) if type(op) in BINARY:
                return BINARY[type(op)](self._node(left), self._node(right))
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in COMPARE:
                return COMPARE[type(op)](self._node(left), self._node(right))
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in FUNCTIONS:
                return FUNCTIONS[name](*map(self._node, args))
            case _:
                raise ValueError(ast.dump(node)[:80])


def unknown(symbol: str) -> UnsupportedError:
    if UNBACKED.fullmatch(symbol):
        return UnsupportedError(
            f"the size or number {symbol} depends on the values of tensors",
            mend="choose it from the shapes of the inputs instead",
        )
    return UnsupportedError(f"the dim {symbol} is dynamic", mend="fix it with inputshape=[…]")
