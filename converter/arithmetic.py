"""The arithmetic of symbolic values: what torch's expressions are, once symbols are numbers."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

BINARY: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Div: lambda a, b: a / b,
    ast.Mod: lambda a, b: a % b,
    ast.Pow: lambda a, b: power(a, b),
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
    "RoundToInt": lambda a: round(a),
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
    "round": lambda a: round(a),
    "sqrt": math.sqrt,
    "sym_float": float,
    "sym_int": int,
    "sym_max": max,
    "sym_min": min,
    "sym_not": lambda a: not a,
    "sym_sqrt": math.sqrt,
    "trunc": math.trunc,
}
"""The functions of torch's symbolic expressions (torch/utils/_sympy/functions.py), and Python's."""


LARGEST = 1 << 2048
"""Beyond what any size is worked out of: products of it would take long."""


def power(base: Any, exponent: Any) -> Any:
    if abs(exponent) > 64 or abs(base) > 2**31:
        raise ValueError("out of bounds")
    return base**exponent


class UnknownSymbolError(KeyError):
    """A symbol has no value; the argument is its name."""


def evaluate(node: ast.expr, values: Mapping[str, int]) -> bool | int | float:
    """Work out a parsed expression.

    Raises UnknownSymbolError for a symbol without a value, ValueError or ArithmeticError for what
    is no arithmetic of numbers.
    """
    return _evaluate(node, values)


def real(value: Any) -> bool | int | float:
    """What a function returns, which must be a number, and one of a size that sizes have."""
    if not isinstance(value, bool | int | float):
        raise ValueError(f"{value!r} is no real number")
    if isinstance(value, int) and abs(value) > LARGEST:
        raise ValueError("out of bounds")
    return value


def _evaluate(node: ast.expr, known: Mapping[str, int]) -> bool | int | float:
    match node:
        case ast.Constant(value=bool() | int() | float() as value):
            return value
        case ast.Name(id=name):
            if name in known:
                return known[name]
            raise UnknownSymbolError(name)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_evaluate(operand, known)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return not _evaluate(operand, known)
        case ast.BoolOp(op=ast.And(), values=values):
            return all(_evaluate(each, known) for each in values)
        case ast.BoolOp(op=ast.Or(), values=values):
            return any(_evaluate(each, known) for each in values)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in BINARY:
            return real(BINARY[type(op)](_evaluate(left, known), _evaluate(right, known)))
        case ast.Compare(left=left, ops=ops, comparators=others):
            operands = [_evaluate(each, known) for each in (left, *others)]
            return all(
                COMPARE[type(op)](one, other)
                for op, one, other in zip(ops, operands, operands[1:], strict=False)
            )
        case ast.Call(func=ast.Attribute(ast.Name("math" | "torch"), name), args=args, keywords=[]):
            return _evaluate(ast.Call(ast.Name(name), args, []), known)
        case ast.Call(func=ast.Name(id="Piecewise"), args=pairs, keywords=[]):
            return _piecewise(pairs, known)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in FUNCTIONS:
            try:
                return real(FUNCTIONS[name](*(_evaluate(each, known) for each in args)))
            except TypeError as error:
                raise ValueError(str(error)) from None
        case _:
            raise ValueError(ast.dump(node)[:80])


def _piecewise(pairs: Sequence[ast.expr], known: Mapping[str, int]) -> bool | int | float:
    """The value of the first pair whose condition holds."""
    for pair in pairs:
        match pair:
            case ast.Call(ast.Name("ExprCondPair"), [value, condition], []):
                if _evaluate(condition, known):
                    return _evaluate(value, known)
            case _:
                raise ValueError(ast.dump(pair)[:80])
    raise ValueError("no condition holds")
