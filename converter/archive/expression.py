"""Symbolic values as plain arithmetic: `2*s0+1`.

torch writes them as SymPy's `srepr`, `Add(Mul(Integer(2), Symbol('s0')), Integer(1))`, and wrote
plain text before. Both are Python expressions: they are parsed, never evaluated.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import NamedTuple

LIMIT = 4096
"""Characters of an expression."""


class _Infix(NamedTuple):
    sign: str
    strength: int


INFIX: Mapping[str, _Infix] = {
    "Or": _Infix("|", 1),
    "And": _Infix("&", 2),
    "Equality": _Infix("==", 3),
    "Unequality": _Infix("!=", 3),
    "StrictLessThan": _Infix("<", 3),
    "LessThan": _Infix("<=", 3),
    "StrictGreaterThan": _Infix(">", 3),
    "GreaterThan": _Infix(">=", 3),
    "Add": _Infix("+", 4),
    "Mul": _Infix("*", 5),
    "FloorDiv": _Infix("//", 5),
    "Mod": _Infix("%", 5),
    "PythonMod": _Infix("%", 5),
    "Pow": _Infix("**", 6),
}
"""SymPy's and torch's classes that Python has an operator for. torch's are in
torch/utils/_sympy/functions.py; `Mod` and `PythonMod` differ for negative numbers, and there `Mod`
is undefined."""
CHAINING = ("Or", "And", "Add", "Mul")
ATOM = 7


def plain(text: str) -> str:
    """Write an expression as arithmetic without spaces. Raises ValueError for what is none.

    Symbols keep their names, classes without an operator become calls: `Max(1,s0)`.
    """
    if len(text) > LIMIT or not (text.isascii() and text.isprintable()):
        raise ValueError("too long, or not plain text")
    if text.isidentifier():
        return text
    try:
        return _write(ast.parse(text, mode="eval").body)[0]
    except (SyntaxError, MemoryError) as error:
        raise ValueError(text[:80]) from error


def _write(node: ast.expr) -> tuple[str, int]:
    """Return an expression's text, and how strongly it holds together."""
    match node:
        case ast.Call(ast.Name("Symbol" | "Dummy"), [ast.Constant(str(name)), *_]):
            if not name.isidentifier():
                raise ValueError(f"a symbol named {name!r}")
            return name, ATOM
        case ast.Call(ast.Name("Integer"), [value], []):
            return _write(value)
        case ast.Call(ast.Name("Float"), [ast.Constant(str(digits)), *_]):
            return repr(float(digits)), ATOM
        case ast.Call(ast.Name("Rational"), [over, under], []):
            return f"{_inner(over, 5)}/{_inner(under, 6)}", 5
        case ast.Call(ast.Name("Not"), [value], []):
            return f"not({_write(value)[0]})", ATOM
        case ast.Call(ast.Name(name), [_, _, *rest] as operands, []) if name in INFIX and (
            not rest or name in CHAINING
        ):
            sign, strength = INFIX[name]
            first = strength if name in CHAINING or strength == 5 else strength + 1
            terms = [_inner(operands[0], first)]
            terms += [_inner(operand, strength + 1) for operand in operands[1:]]
            return sign.join(terms), strength
        case ast.Call(ast.Name(name), operands, []):
            return f"{name}({','.join(_write(operand)[0] for operand in operands)})", ATOM
        case ast.UnaryOp(ast.USub(), ast.Constant(int() | float() as value)):
            return f"-{value!r}", 4
        case ast.Constant(bool() | int() | float() as value):
            return repr(value), ATOM
        case ast.Name("true" | "false" as name):
            return name.capitalize(), ATOM
        case ast.Name(name):
            return name, ATOM
        case ast.BinOp() | ast.UnaryOp() | ast.Compare() | ast.BoolOp():
            return "".join(ast.unparse(node).split(" ")), 0
        case _:
            raise ValueError(ast.dump(node)[:80])


def _inner(node: ast.expr, strength: int) -> str:
    """Write an operand, in brackets if it holds together less than `strength`."""
    text, own = _write(node)
    return text if own >= strength else f"({text})"
