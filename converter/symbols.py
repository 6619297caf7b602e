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
    "Abs": abs,
    "And": lambda *values: all(values),
    "CeilDiv": lambda a, b: -(-a // b),
    "CeilToInt": math.ceil,
    "CleanDiv": lambda a, b: a // b,
    "FloorDiv": lambda a, b: a // b,
    "FloorToInt": math.floor,
    "FloatPow": lambda a, b: float(a) ** b,
    "FloatTrueDiv": lambda a, b: a / b,
    "Identity": lambda a: a,
    "IntTrueDiv": lambda a, b: a / b,
    "Max": max,
    "Min": min,
    "Mod": lambda a, b: a % b,
    "Not": lambda a: not a,
    "OpaqueUnaryFn_sqrt": math.sqrt,
    "Or": lambda *values: any(values),
    "PowByNatural": lambda a, b: power(a, b),
    "PythonMod": lambda a, b: a % b,
    "RoundToInt": round,
    "ToFloat": float,
    "TruncToFloat": lambda a: float(math.trunc(a)),
    "TruncToInt": math.trunc,
    "Where": lambda condition, a, b: a if condition else b,
    "abs": abs,
    "ceil": math.ceil,
    "ceiling": math.ceil,
    "float": float,
    "floor": math.floor,
    "int": int,
    "max": max,
    "min": min,
    "round": round,
    "sqrt": math.sqrt,
    "trunc": math.trunc,
}
"""The functions of torch's symbolic expressions (torch/utils/_sympy/functions.py), and Python's."""


def power(base: Any, exponent: Any) -> Any:
    if abs(exponent) > 64 or abs(base) > 2**31:
        raise ValueError("out of bounds")
    return base**exponent


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
            return self.evaluate_tree(ast.parse(expression, mode="eval").body)
        except (SyntaxError, ValueError, ArithmeticError, RecursionError, MemoryError) as error:
            raise UnsupportedError(
                f"the symbolic value {expression[:80]!r} cannot be read",
                mend="export the model without dynamic shapes",
            ) from error

    def evaluate_tree(self, node: ast.expr) -> bool | int | float:
        """Work out a parsed expression.

        Raises UnsupportedError for a symbol without a value, ValueError or ArithmeticError for what
        is no arithmetic of numbers.
        """
        value = self._node(node)
        if not isinstance(value, bool | int | float):
            raise ValueError(f"{value!r} is no real number")
        return value

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
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return not self._node(operand)
            case ast.BoolOp(op=ast.And(), values=values):
                return all(map(self._node, values))
            case ast.BoolOp(op=ast.Or(), values=values):
                return any(map(self._node, values))
            case ast.BinOp(left=left, op=ast.Pow(), right=right):
                return power(self._node(left), self._node(right))
            case ast.BinOp(left=left, op=op, right=right) if type(op) in BINARY:
                return BINARY[type(op)](self._node(left), self._node(right))
            case ast.Compare(left=left, ops=ops, comparators=others):
                values = [self._node(each) for each in (left, *others)]
                return all(
                    COMPARE[type(op)](one, other)
                    for op, one, other in zip(ops, values, values[1:], strict=False)
                )
            case ast.Call(func=ast.Attribute(ast.Name("math"), name), args=args, keywords=[]):
                return self._node(ast.Call(ast.Name(name), args, []))
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in FUNCTIONS:
                values = list(map(self._node, args))
                try:
                    return FUNCTIONS[name](*values)
                except TypeError as error:
                    raise ValueError(str(error)) from None
            case _:
                raise ValueError(ast.dump(node)[:80])


def unknown(symbol: str) -> UnsupportedError:
    if UNBACKED.fullmatch(symbol):
        return UnsupportedError(
            f"the size or number {symbol} depends on the values of tensors",
            mend="keep it a tensor, without item(), or work it out from the shapes of the inputs",
        )
    return UnsupportedError(f"the dim {symbol} is dynamic", mend="fix it with inputshape=[…]")
