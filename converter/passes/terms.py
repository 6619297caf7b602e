"""What an operand computes, as a value that can be compared: to prove that two graphs agree.

Equal terms compute the same from the same operands, up to the order of rounding. Operators that
only move elements leave no term of their own: they change the layout of a view. So it does not
matter by which reshapes, permutations and splits a program reaches the elements that it combines.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import NamedTuple

import numpy as np

from converter.ir import Operand, Operator, Param
from converter.passes.layout import Layout, LayoutError, contiguous

FILLED_LIMIT = 1 << 24
"""Bytes up to which a stored tensor is looked at, whether one value fills it."""


class Term(NamedTuple):
    """A function of views, or an operand that nothing is known of (`kind` is then `operand`)."""

    kind: str
    params: tuple[Param, ...]
    inputs: tuple[View, ...]
    operand: Operand | None = None


class View(NamedTuple):
    """Elements of a term, in some layout. The term is numbered, so that comparing is quick."""

    number: int
    layout: Layout

    @property
    def shape(self) -> tuple[int, ...]:
        return self.layout.shape

    def reshape(self, *shape: int) -> View:
        return View(self.number, self.layout.reshape(shape))

    def permute(self, *order: int) -> View:
        return View(self.number, self.layout.permute(order))

    def select(self, dim: int, index: int) -> View:
        return View(self.number, self.layout.select(dim, index))

    def narrow(self, dim: int, start: int, length: int) -> View:
        return View(self.number, self.layout.narrow(dim, start, length))

    def expand(self, *shape: int) -> View:
        return View(self.number, self.layout.expand(shape))


Sizes = Callable[[Operand], tuple[int, ...] | None]
"""How the shape of an operand is told, None where it is not known."""


def static_shape(operand: Operand) -> tuple[int, ...] | None:
    """The shape where it is known and has elements."""
    dims = operand.shape
    sizes = tuple(dim for dim in dims or () if isinstance(dim, int))
    return sizes if dims is not None and len(sizes) == len(dims) and all(sizes) else None


class Terms:
    """All terms of a graph, each once; a view names its term by its number."""

    def __init__(self, sizes: Sizes = static_shape) -> None:
        self.sizes = sizes
        self._numbers: dict[Term, int] = {}
        self._terms: list[Term] = []
        self._views: dict[Operand, View | None] = {}
        self._holders: dict[View, list[Operand]] = {}
        self._operators: dict[int, Operator] = {}

    # --- asking

    def term(self, view: View) -> Term:
        return self._terms[view.number]

    def operator(self, view: View) -> Operator | None:
        """The operator that computes the term, where its reader said so."""
        return self._operators.get(view.number)

    def view(self, operand: Operand) -> View | None:
        """What an operand holds. None where its shape is not known."""
        if operand not in self._views:
            self._views[operand] = self._opaque(operand)
        return self._views[operand]

    def base(self, view: View) -> View:
        """All elements of an operand, some of which a view shows, where it is one's."""
        operand = self.term(view).operand
        shape = None if operand is None else self.sizes(operand)
        return view if shape is None else View(view.number, contiguous(shape))

    def operands(self, view: View) -> list[Operand]:
        """The operands that a value is worked out from, in the order of their first use."""
        found: dict[Operand, None] = {}
        seen: set[int] = set()
        todo = [view.number]
        while todo:
            number = todo.pop()
            if number in seen:
                continue
            seen.add(number)
            term = self._terms[number]
            if term.operand is not None:
                found[term.operand] = None
            todo += (each.number for each in reversed(term.inputs))
        return list(found)

    def operand(self, view: View) -> Operand | None:
        """The operand whose elements these are, all of them, untouched and in order."""
        term = self.term(view)
        whole = term.operand is not None and view.layout == contiguous(view.shape)
        return term.operand if whole else None

    def holders(self, view: View | None) -> list[Operand]:
        """The operands of the graph that hold this, the last one first."""
        return [] if view is None else self._holders.get(view, [])[::-1]

    # --- making

    def hold(self, operand: Operand, view: View) -> None:
        """Say what an operand holds."""
        self._views[operand] = view
        self._holders.setdefault(view, []).append(operand)

    def made_by(self, view: View, op: Operator) -> View:
        """Say which operator computes the term of a view."""
        self._operators[view.number] = op
        return view

    def apply(
        self, kind: str, shape: Sequence[int], inputs: Sequence[View], *params: Param
    ) -> View:
        """The result, of that shape, of a function of views."""
        return self._add(Term(kind, params, tuple(inputs)), shape)

    def linear(self, x: View, weight: View, bias: View | None) -> View:
        """`x @ weight.T + bias` over the last dim; rows count as they come, in any shape."""
        rows, features = math.prod(x.shape[:-1]), x.shape[-1]
        flat = x.reshape(rows, features)
        inputs = (flat, weight) if bias is None else (flat, weight, bias)
        result = self.apply("linear", (rows, weight.shape[0]), inputs)
        return result.reshape(*x.shape[:-1], weight.shape[0])

    def add(self, one: View, other: View) -> View:
        """The sum, spread over each other's dims. Raises LayoutError."""
        pairs = zip_longest(reversed(one.shape), reversed(other.shape), fillvalue=1)
        sizes = [{*pair} - {1} or {1} for pair in pairs]
        if any(len(size) > 1 for size in sizes):
            raise LayoutError
        shape = [size for (size,) in reversed(sizes)]
        return self.apply("add", shape, sorted((one, other)))

    def multiply(self, view: View, number: float) -> View:
        return self.apply("multiply", view.shape, [view], number)

    def bmm(self, one: View, other: View) -> View:
        return self.apply("bmm", (*one.shape[:-1], other.shape[-1]), [one, other])

    def fill(self, number: float, shape: Sequence[int]) -> View:
        """A tensor full of one number."""
        return self.apply("number", (1,) * len(shape), [], number).expand(*shape)

    def stored_number(self, view: View) -> float | None:
        """The number that fills a tensor which the model stores, None if there is no such one."""
        term = self.term(view)
        if term.kind == "number":
            assert isinstance(term.params[0], float)
            return term.params[0]
        stored = term.operand.stored if term.operand is not None else None
        if stored is None or stored.nbytes > FILLED_LIMIT or not stored.size:
            return None
        values = stored.array()
        first = values.reshape(-1)[0]
        return float(first) if np.isrealobj(values) and bool(np.all(values == first)) else None

    def _opaque(self, operand: Operand) -> View | None:
        shape = self.sizes(operand)
        return None if shape is None else self._add(Term("operand", (), (), operand), shape)

    def _add(self, term: Term, shape: Sequence[int]) -> View:
        number = self._numbers.setdefault(term, len(self._terms))
        if number == len(self._terms):
            self._terms.append(term)
        return View(number, contiguous(shape))
