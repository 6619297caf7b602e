"""Dims as polynomials over symbols, so that equal ones look alike: `2*s0+1`, `s0*(s1//2)`."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterable, Mapping
from functools import lru_cache, reduce

from converter.archive.expression import LIMIT, plain
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

DEPTH = 32
"""How deep divisions and calls may lie in each other."""

LARGEST = 1 << 256
"""The largest coefficient: no size of a tensor that any machine holds has 64 bits."""

REMEMBERED = 1 << 12
"""Expressions whose simple form is kept: programs repeat those of a few dims."""

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
    known = ((name, values[name]) for name in symbols_of(expression) if name in values)
    return _simplified(expression, tuple(sorted(known)))


@lru_cache(REMEMBERED)
def _simplified(expression: str, values: tuple[tuple[str, int], ...]) -> Dim:
    return write(_multiplied_out(expression, dict(values)))


def total(dims: Iterable[Dim]) -> Dim:
    """The sum of dims."""
    added: Polynomial = {}
    for dim in dims:
        for factors, count in of(dim).items():
            added[factors] = added.get(factors, 0) + count
    return write({factors: count for factors, count in added.items() if count})


def product(dims: Iterable[Dim]) -> Dim:
    """The product of dims."""
    multiplied: Polynomial = {(): 1}
    for dim in dims:
        multiplied = multiply(multiplied, of(dim))
    return write(multiplied)


def symbols_of(dim: Dim) -> frozenset[str]:
    """The symbols that a dim depends on."""
    return frozenset() if isinstance(dim, int) else _symbols(dim)


@lru_cache(REMEMBERED)
def _symbols(dim: str) -> frozenset[str]:
    return frozenset(names(ast.parse(dim, mode="eval").body))


def names(node: ast.expr) -> set[str]:
    """The symbols of a parsed expression: its names, those of functions left out."""
    called = {id(each.func) for each in ast.walk(node) if isinstance(each, ast.Call)}
    return {
        each.id for each in ast.walk(node) if isinstance(each, ast.Name) and id(each) not in called
    }


def of(dim: Dim) -> Polynomial:
    """The polynomial of a dim."""
    if dim == "?":
        raise ValueError("the size of a dim is not known")
    return {(): dim} if isinstance(dim, int) else dict(_of(dim))


@lru_cache(REMEMBERED)
def _of(dim: str) -> Polynomial:
    return _multiplied_out(dim, {})


def _multiplied_out(expression: str, values: Mapping[str, int]) -> Polynomial:
    tree = ast.parse(expression, mode="eval").body
    return _Reader(tree, values).polynomial(tree)


class _Reader:
    """Multiplies an expression out, each part of it once."""

    def __init__(self, tree: ast.expr, values: Mapping[str, int]) -> None:
        self._values = values
        self._integral: set[ast.AST] = set()
        for node in reversed(list(ast.walk(tree))):  # parts before the whole
            if is_integral(node, self._integral):
                self._integral.add(node)
        self._depth = 0

    def polynomial(self, node: ast.expr) -> Polynomial:
        integral = node in self._integral
        match node:
            case ast.Constant(int(value)) if not isinstance(value, bool):
                return {(): value}
            case ast.Name(name):
                return {(): self._values[name]} if name in self._values else {(name,): 1}
            case ast.UnaryOp(ast.USub(), operand) if operand in self._integral:
                return multiply({(): -1}, self.polynomial(operand))
            case ast.BinOp(_, ast.Add() | ast.Sub()) if integral:
                return self._sum(node)
            case ast.BinOp(left, ast.Mult(), right) if integral:
                return multiply(self.polynomial(left), self.polynomial(right))
            case ast.BinOp(base, ast.Pow(), ast.Constant(int(exponent))) if (
                base in self._integral and 0 <= exponent <= POWER
            ):
                one = self.polynomial(base)
                return reduce(multiply, [one] * exponent, {(): 1})
            case ast.Call(ast.Name(name), [ast.BinOp() as inner], []) if (
                name in INTEGRAL and (whole := self._whole(inner)) is not None
            ):
                return reduce(multiply, map(self.polynomial, whole))
            case _:
                return self._factor(node)

    def _sum(self, node: ast.expr) -> Polynomial:
        """Of terms that may be very many: each is one to the left of those before."""
        terms: list[tuple[ast.expr, int]] = []
        while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
            terms.append((node.right, 1 if isinstance(node.op, ast.Add) else -1))
            node = node.left
        added = dict(self.polynomial(node))
        for term, sign in reversed(terms):
            for factors, count in self.polynomial(term).items():
                added[factors] = added.get(factors, 0) + sign * count
        return {factors: count for factors, count in added.items() if count}

    def _whole(self, node: ast.expr) -> list[ast.expr] | None:
        """The factors of an int that an expression of whole floats is, `2*s0` of
        `2.0*ToFloat(s0)`: single products of sizes are exact in double precision. None for any
        other expression.
        """
        match node:
            case ast.Constant(float(value)) if value.is_integer():
                return [ast.Constant(int(value))]
            case ast.Call(ast.Name("ToFloat"), [inner], []) if inner in self._integral:
                return [inner]
            case ast.BinOp(left, ast.Mult(), right):
                one, other = self._whole(left), self._whole(right)
                return None if one is None or other is None else one + other
        return None

    def _factor(self, node: ast.expr) -> Polynomial:
        """What is no sum and no product is a factor as it stands, its parts simplified."""
        if names(node) <= self._values.keys():
            return constant(node, self._values)
        self._depth += 1
        if self._depth > DEPTH:
            raise too_large("is nested too deeply")
        simple = self._simple(node)
        self._depth -= 1
        if not isinstance(simple, ast.expr):
            return simple
        if not names(simple):  # `Max(s0-s0,1)`
            return constant(simple, {})
        text = plain(ast.unparse(simple))
        return {(text if isinstance(node, ast.Call) else f"({text})",): 1}

    def _simple(self, node: ast.expr) -> ast.expr | Polynomial:
        """The node with its parts simplified; a polynomial of a division that leaves no rest."""
        parts: dict[ast.AST, ast.expr] = {}
        match node:
            case ast.BinOp(left, ast.FloorDiv(), right) if node in self._integral:
                above, below = self.polynomial(left), self.polynomial(right)
                divisor = below.get((), 0) if below.keys() <= {()} else 0
                if divisor > 0 and not any(count % divisor for count in above.values()):
                    return {factors: count // divisor for factors, count in above.items()}
                parts = {left: parsed(above), right: parsed(below)}
        simple = _Simplifier(self, parts).generic_visit(node)
        assert isinstance(simple, ast.expr)
        return simple

    def simplified(self, node: ast.expr) -> ast.expr | None:
        """A part that is an int, or a symbol whose value is known; None of any other."""
        if node in self._integral:
            return parsed(self.polynomial(node))
        if isinstance(node, ast.Name) and node.id in self._values:
            return ast.Constant(self._values[node.id])
        return None


class _Simplifier(ast.NodeTransformer):
    """Simplifies the parts of an expression; of those that are simplified already, told by node."""

    def __init__(self, reader: _Reader, parts: Mapping[ast.AST, ast.expr]) -> None:
        self._reader = reader
        self._parts = parts

    def visit(self, node: ast.AST) -> ast.AST:
        if not isinstance(node, ast.expr):
            return node
        simple = self._parts.get(node) or self._reader.simplified(node)
        if simple is not None:
            return simple
        if isinstance(node, ast.Call):
            node.args = [self.visit(each) for each in node.args]  # type: ignore[misc]
            return node
        return self.generic_visit(node)


def parsed(polynomial: Polynomial) -> ast.expr:
    return ast.parse(str(write(polynomial)), mode="eval").body


def constant(node: ast.expr, values: Mapping[str, int]) -> Polynomial:
    number = evaluate(node, values)
    if not isinstance(number, int):
        raise ValueError(f"{number} is no int")
    return {(): int(number)}


def is_integral(node: ast.AST, integral: Container[ast.AST]) -> bool:
    """Whether an expression is an int, where those of its parts that are such are known.

    Floats are not reordered, which would round otherwise.
    """
    match node:
        case ast.Constant(value):
            return type(value) is int
        case ast.Name(name):
            return name[0] in "su" and name[1:].isdigit()
        case ast.UnaryOp(ast.USub(), operand):
            return operand in integral
        case ast.BinOp(
            left, ast.Add() | ast.Sub() | ast.Mult() | ast.FloorDiv() | ast.Mod(), right
        ):
            return left in integral and right in integral
        case ast.BinOp(base, ast.Pow(), ast.Constant(int(exponent))):
            return exponent >= 0 and base in integral
        case ast.Call(ast.Name(name), args, []):
            return name in INTEGRAL or (name in KEEPING and all(arg in integral for arg in args))
        case _:
            return False


def too_large(why: str) -> UnsupportedError:
    return UnsupportedError(f"a symbolic size {why}", mend="fix the dims with inputshape=[…]")


def multiply(one: Polynomial, other: Polynomial) -> Polynomial:
    longest = max(map(len, one), default=0) + max(map(len, other), default=0)
    if len(one) * len(other) > TERMS or longest > FACTORS:
        raise too_large("has too many terms")
    multiplied: Polynomial = {}
    for left, count in one.items():
        for right, times in other.items():
            factors = tuple(sorted((*left, *right)))
            multiplied[factors] = multiplied.get(factors, 0) + count * times
    if any(abs(count) > LARGEST for count in multiplied.values()):
        raise too_large("has numbers that no size has")
    return {factors: count for factors, count in multiplied.items() if count}


def write(polynomial: Polynomial) -> Dim:
    """Write a polynomial, higher products first: an int, or `2*s0*s1+s0-1`."""
    if polynomial.keys() <= {()}:
        return polynomial.get((), 0)
    if sum(len(factor) + 1 for factors in polynomial for factor in factors) > LIMIT:
        raise too_large("is too long")
    if len(polynomial) == 1:
        ((factors, count),) = polynomial.items()
        if count == 1 and len(factors) == 1:
            return factors[0][1:-1] if factors[0].startswith("(") else factors[0]
    text = ""
    for factors, count in sorted(polynomial.items(), key=lambda term: (-len(term[0]), term[0])):
        parts = [*([str(abs(count))] if abs(count) != 1 or not factors else []), *factors]
        text += ("-" if count < 0 else "+" if text else "") + "*".join(parts)
    return text
