"""Dims as polynomials over symbols, so that equal ones look alike: `2*s0+1`, `s0*(s1//2)`."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from functools import cache

from converter.archive.expression import plain
from converter.arithmetic import evaluate
from converter.errors import UnsupportedError
from converter.ir import Dim

Polynomial = dict[tuple[str, ...], int]
"""Coefficients by the factors that they multiply: `{("s0",): 2, (): 1}` is `2*s0+1`. A factor is a
symbol, a call, or anything else in brackets."""

TERMS = 256
"""Terms that a polynomial may have."""

FACTORS = 64
"""Factors that a term may have."""

POWER = 8
"""The highest power that is multiplied out."""

INTEGRAL = frozenset({"CeilToInt", "FloorToInt", "RoundToInt", "TruncToInt"})
"""Functions whose results are ints, whatever their arguments."""

KEEPING = frozenset(
    {"Abs", "CeilDiv", "CleanDiv", "Identity", "Max", "Min", "Mod", "PowByNatural", "abs", "max"}
    | {"min"}
)
"""Functions whose results are ints where their arguments are."""


def simplify(expression: str, values: Mapping[str, int]) -> Dim:
    """Write an expression of ints in the one form that it has, symbols of known value replaced.

    Raises ValueError, ArithmeticError or SyntaxError for what is none, UnsupportedError for what
    would take long.
    """
    return write(polynomial(ast.parse(expression, mode="eval").body, values))


def total(dims: Iterable[Dim]) -> Dim:
    """The sum of dims."""
    added: Polynomial = {}
    for dim in dims:
        added = add(added, of(dim))
    return write(added)


def product(dims: Iterable[Dim]) -> Dim:
    """The product of dims."""
    multiplied: Polynomial = {(): 1}
    for dim in dims:
        multiplied = multiply(multiplied, of(dim))
    return write(multiplied)


def symbols_of(dim: Dim) -> frozenset[str]:
    """The symbols that a dim depends on."""
    return frozenset() if isinstance(dim, int) else _symbols(dim)


@cache
def _symbols(dim: str) -> frozenset[str]:
    return frozenset(names(ast.parse(dim, mode="eval").body))


def names(node: ast.expr) -> set[str]:
    """The symbols of a parsed expression: its names, those of functions left out."""
    called = {id(each.func) for each in ast.walk(node) if isinstance(each, ast.Call)}
    return {
        each.id for each in ast.walk(node) if isinstance(each, ast.Name) and id(each) not in called
    }


def of(dim: Dim) -> Polynomial:
    if dim == "?":
        raise ValueError("the size of a dim is not known")
    return {(): dim} if isinstance(dim, int) else polynomial(ast.parse(dim, mode="eval").body, {})


def polynomial(node: ast.expr, values: Mapping[str, int]) -> Polynomial:
    """Multiply an expression out."""
    match node:
        case ast.Constant(int(value)) if not isinstance(value, bool):
            return {(): value}
        case ast.Name(name):
            return {(): values[name]} if name in values else {(name,): 1}
        case ast.UnaryOp(ast.USub(), operand) if is_integral(operand):
            return multiply({(): -1}, polynomial(operand, values))
        case ast.BinOp(left, ast.Add(), right) if is_integral(node):
            return add(polynomial(left, values), polynomial(right, values))
        case ast.BinOp(left, ast.Sub(), right) if is_integral(node):
            return add(polynomial(left, values), multiply({(): -1}, polynomial(right, values)))
        case ast.BinOp(left, ast.Mult(), right) if is_integral(node):
            return multiply(polynomial(left, values), polynomial(right, values))
        case ast.BinOp(base, ast.Pow(), ast.Constant(int(exponent))) if (
            is_integral(base) and 0 <= exponent <= POWER
        ):
            raised: Polynomial = {(): 1}
            for _ in range(exponent):
                raised = multiply(raised, polynomial(base, values))
            return raised
        case ast.Call(ast.Name(name), [ast.BinOp() as inner], []) if (
            name in INTEGRAL and (whole := whole_of(inner)) is not None
        ):
            return polynomial(whole, values)
        case _:
            return factor(node, values)


def whole_of(node: ast.expr) -> ast.expr | None:
    """The int that an expression of whole floats is, `2*s0` of `2.0*ToFloat(s0)`: single products
    of sizes are exact in double precision. None for any other expression.
    """
    match node:
        case ast.Constant(float(value)) if value.is_integer():
            return ast.Constant(int(value))
        case ast.Call(ast.Name("ToFloat"), [inner], []) if is_integral(inner):
            return inner
        case ast.BinOp(left, ast.Mult(), right):
            factors = whole_of(left), whole_of(right)
            if factors[0] is not None and factors[1] is not None:
                return ast.BinOp(factors[0], ast.Mult(), factors[1])
    return None


def factor(node: ast.expr, values: Mapping[str, int]) -> Polynomial:
    """What is no sum and no product is a factor as it stands, its parts simplified."""
    if names(node) <= values.keys():
        return constant(node, values)
    match node:
        case ast.BinOp(left, ast.FloorDiv(), right) if is_integral(node):
            above, below = polynomial(left, values), polynomial(right, values)
            divisor = below.get((), 0) if below.keys() <= {()} else 0
            if divisor > 0 and not any(count % divisor for count in above.values()):
                return {factors: count // divisor for factors, count in above.items()}
    simple = _Simplifier(values).generic_visit(node)
    assert isinstance(simple, ast.expr)
    if not names(simple):  # `Max(s0-s0,1)`
        return constant(simple, {})
    text = plain(ast.unparse(simple))
    return {(text if isinstance(node, ast.Call) else f"({text})",): 1}


def constant(node: ast.expr, values: Mapping[str, int]) -> Polynomial:
    number = evaluate(node, values)
    if not isinstance(number, int):
        raise ValueError(f"{number} is no int")
    return {(): int(number)}


class _Simplifier(ast.NodeTransformer):
    """Simplifies the ints in an expression, and puts values in the place of known symbols."""

    def __init__(self, values: Mapping[str, int]) -> None:
        self.values = values

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.expr) and is_integral(node):
            text = str(write(polynomial(node, self.values)))
            return ast.parse(text, mode="eval").body
        if isinstance(node, ast.Call):
            node.args = [self.visit(each) for each in node.args]  # type: ignore[misc]
            return node
        if isinstance(node, ast.Name) and node.id in self.values:
            return ast.Constant(self.values[node.id])
        return self.generic_visit(node)


def is_integral(node: ast.expr) -> bool:
    """Whether an expression is an int: floats are not reordered, which would round otherwise."""
    match node:
        case ast.Constant(value):
            return type(value) is int
        case ast.Name(name):
            return name[0] in "su" and name[1:].isdigit()
        case ast.UnaryOp(ast.USub(), operand):
            return is_integral(operand)
        case ast.BinOp(
            left, ast.Add() | ast.Sub() | ast.Mult() | ast.FloorDiv() | ast.Mod(), right
        ):
            return is_integral(left) and is_integral(right)
        case ast.BinOp(base, ast.Pow(), ast.Constant(int(exponent))):
            return exponent >= 0 and is_integral(base)
        case ast.Call(ast.Name(name), args, []):
            return name in INTEGRAL or (name in KEEPING and all(map(is_integral, args)))
        case _:
            return False


def add(one: Polynomial, other: Polynomial) -> Polynomial:
    added = dict(one)
    for factors, count in other.items():
        added[factors] = added.get(factors, 0) + count
    return {factors: count for factors, count in added.items() if count}


def multiply(one: Polynomial, other: Polynomial) -> Polynomial:
    longest = max(map(len, one), default=0) + max(map(len, other), default=0)
    if len(one) * len(other) > TERMS or longest > FACTORS:
        raise UnsupportedError(
            "a symbolic size has too many terms", mend="fix the dims with inputshape=[…]"
        )
    multiplied: Polynomial = {}
    for left, count in one.items():
        for right, times in other.items():
            multiplied = add(multiplied, {tuple(sorted((*left, *right))): count * times})
    return multiplied


def write(polynomial: Polynomial) -> Dim:
    """Write a polynomial, higher products first: an int, or `2*s0*s1+s0-1`."""
    if polynomial.keys() <= {()}:
        return polynomial.get((), 0)
    if len(polynomial) == 1:
        ((factors, count),) = polynomial.items()
        if count == 1 and len(factors) == 1:
            return factors[0][1:-1] if factors[0].startswith("(") else factors[0]
    text = ""
    for factors, count in sorted(polynomial.items(), key=lambda term: (-len(term[0]), term[0])):
        parts = [*([str(abs(count))] if abs(count) != 1 or not factors else []), *factors]
        text += ("-" if count < 0 else "+" if text else "") + "*".join(parts)
    return text
