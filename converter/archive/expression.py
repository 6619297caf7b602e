"""Symbolic values as plain arithmetic: `2*s0+1`.

torch writes them as SymPy's `srepr`, `Add(Mul(Integer(2), Symbol('s0')), Integer(1))`, and wrote
plain text before. Both are Python expressions: they are parsed, never evaluated.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import NamedTuple

LIMIT = 4096
"""Characters of an expression."""


class Infix(NamedTuple):
    sign: str
    strength: int
    """How strongly it holds together, as in Python."""


LITERALS = ("Symbol", "Dummy", "Integer", "Float", "Rational")
"""SymPy's classes that have one form only."""

COMPARISON, SUM, PRODUCT, POWER, ATOM = range(5)

INFIX: Mapping[str, Infix] = {
    "Equality": Infix("==", COMPARISON),
    "Unequality": Infix("!=", COMPARISON),
    "StrictLessThan": Infix("<", COMPARISON),
    "LessThan": Infix("<=", COMPARISON),
    "StrictGreaterThan": Infix(">", COMPARISON),
    "GreaterThan": Infix(">=", COMPARISON),
    "Add": Infix("+", SUM),
    "Mul": Infix("*", PRODUCT),
    "FloorDiv": Infix("//", PRODUCT),
    "Mod": Infix("%", PRODUCT),
    "PythonMod": Infix("%", PRODUCT),
    "Pow": Infix("**", POWER),
}
"""SymPy's and torch's classes that Python has an operator for. torch's are in
torch/utils/_sympy/functions.py; its `Mod` is for natural numbers only, where it is Python's."""

PYTHON: Mapping[type[ast.AST], str] = {
    ast.Eq: "Equality",
    ast.NotEq: "Unequality",
    ast.Lt: "StrictLessThan",
    ast.LtE: "LessThan",
    ast.Gt: "StrictGreaterThan",
    ast.GtE: "GreaterThan",
    ast.Add: "Add",
    ast.Mult: "Mul",
    ast.FloorDiv: "FloorDiv",
    ast.Mod: "PythonMod",
    ast.Pow: "Pow",
}
"""The operators of plain text, by the same names."""


def plain(text: str) -> str:
    """Write an expression as arithmetic without spaces. Raises ValueError for what is none.

    Symbols keep their names; classes that Python has no operator for become calls: `Max(1,s0)`.
    """
    if len(text) > LIMIT:
        raise ValueError(
            f"it has {len(text)} characters, more than {LIMIT}; export it with fewer dynamic dims"
        )
    if not (text.isascii() and text.isprintable()):
        raise ValueError("it is not plain text")
    if text.isidentifier():
        return text
    try:
        return _write(ast.parse(text, mode="eval").body)[0]
    except (SyntaxError, MemoryError, RecursionError):
        raise ValueError(repr(text[:80])) from None


def _write(node: ast.expr) -> tuple[str, int]:
    """Return an expression's text and its strength."""
    match node:
        case ast.Name(("true" | "false") as name):
            return name.capitalize(), ATOM
        case ast.Name(name):
            return name, ATOM
        case ast.Constant(bool() | int() | float() as value):
            return repr(value), ATOM
        case ast.Call(ast.Name("Symbol" | "Dummy"), [ast.Constant(str(name)), *_]):
            if not name.isidentifier():
                raise ValueError(f"a symbol named {name!r}")
            return name, ATOM
        case ast.Call(ast.Name("Integer"), [value], []):
            return _write(value)
        case ast.Call(ast.Name("Float"), [ast.Constant(str(digits)), *_]):
            return repr(float(digits)), ATOM
        case ast.Call(ast.Name("Rational"), [over, under], []):
            return f"{_inner(over, PRODUCT)}/{_inner(under, POWER)}", PRODUCT
        case ast.Call(ast.Name(name), operands, []) if name in INFIX and len(operands) > 1:
            return _infix(name, operands)
        case ast.Call(ast.Name(name), operands, []) if name not in LITERALS:
            return f"{name}({','.join(_write(operand)[0] for operand in operands)})", ATOM
        case ast.UnaryOp(ast.USub(), operand):
            return f"-{_inner(operand, POWER)}", PRODUCT
        case ast.BinOp(left, ast.Sub(), right):
            return f"{_inner(left, SUM)}-{_inner(right, PRODUCT)}", SUM
        case ast.BinOp(left, ast.Div(), right):
            return f"{_inner(left, PRODUCT)}/{_inner(right, POWER)}", PRODUCT
        case ast.BinOp(left, operator, right) if type(operator) in PYTHON:
            return _infix(PYTHON[type(operator)], [left, right])
        case ast.Compare(left, [operator], [right]) if type(operator) in PYTHON:
            return _infix(PYTHON[type(operator)], [left, right])
        case _:
            raise ValueError(ast.unparse(node)[:80])


def _infix(name: str, operands: Sequence[ast.expr]) -> tuple[str, int]:
    """Join operands, in brackets where Python would read them otherwise."""
    sign, strength = INFIX[name]
    if len(operands) > 2 and name not in ("Add", "Mul"):
        raise ValueError(f"{name} of {len(operands)}")
    grouping = strength if strength in (SUM, PRODUCT) else strength + 1
    first, *others = operands
    text = _inner(first, grouping)
    for operand in others:
        term = _inner(operand, strength + 1)
        if name == "Mul" and text == "-1":
            text = f"-{term}"
        elif name == "Add" and term.startswith("-") and not set(term) & set("/%"):
            text += term  # s0-1; but s0+-1//2, where the sign belongs to what is divided
        else:
            text += sign + term
    return text, strength


def _inner(node: ast.expr, strength: int) -> str:
    """Write an operand, in brackets if it holds together less than `strength`."""
    text, own = _write(node)
    return text if own >= strength else f"({text})"
