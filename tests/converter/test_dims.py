"""Dims as polynomials: one text for equal ones, the same value as the expression's."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from converter.arithmetic import evaluate
from converter.dims import product, simplify, symbols_of, total
from converter.errors import UnsupportedError
from converter.ir import Dim


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("s0", "s0"),
        ("1+2*s0", "2*s0+1"),
        ("s1*s0-s0*s1+3", 3),
        ("-s0+4", "-s0+4"),
        ("(s0+1)*(s0-1)", "s0*s0-1"),
        ("(s0+s1)**2", "s0*s0+2*s0*s1+s1*s1"),
        ("4*s0//2", "2*s0"),
        ("(s0+1)//2*3", "3*((s0+1)//2)"),
        ("Max(1,s0+0)", "Max(1,s0)"),
        ("2*Max(1,s0)", "2*Max(1,s0)"),
        ("Max(0,s0-s0)", 0),
        ("Max(s0,2)-Max(s0,2)+(s1-s1+7)%4", 3),
        ("TruncToInt(2.0*ToFloat(s0))", "2*s0"),
        ("FloorToInt(ToFloat(s0)*3.0*ToFloat(s1))", "3*s0*s1"),
        ("TruncToInt(1.5*ToFloat(s0))", "TruncToInt(1.5*ToFloat(s0))"),
        ("s0%4+s0", "(s0%4)+s0"),
        ("k*s0", "k*s0"),
        ("s9*s0+s9", "5*s0+5"),
        ("s9//2", 2),
        ("(s0*s9)//5", "s0"),
    ],
)
def test_one_form(text: str, written: Dim) -> None:
    assert simplify(text, {"s9": 5}) == written


def test_sums_and_products() -> None:
    assert total([2, "s0", "-s0+1"]) == 3
    assert product([2, "s0", "s0+1"]) == "2*s0*s0+2*s0"
    assert product([]) == 1
    assert symbols_of("2*Max(s0,s1//2)") == {"s0", "s1"}
    assert symbols_of(3) == frozenset()


@pytest.mark.parametrize(
    "text", ["*".join(f"(s{n}+s{n + 1}+1)" for n in range(12)), f"{'(' * 20}s0{')**8' * 20}"]
)
def test_work_is_bounded(text: str) -> None:
    with pytest.raises(UnsupportedError, match="too many terms"):
        simplify(text, {})


SYMBOLS = ("s0", "s1", "s2")
LEAVES = st.sampled_from(SYMBOLS) | st.integers(-4, 9).map(lambda n: f"({n})")
EXPRESSIONS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda t: f"({''.join(t)})"),
        st.tuples(inner, st.integers(1, 5)).map(lambda t: f"({t[0]}//{t[1]})"),
        st.tuples(inner, st.integers(1, 5)).map(lambda t: f"({t[0]}%{t[1]})"),
        st.tuples(inner, inner).map(lambda t: f"Max({t[0]},{t[1]})"),
        inner.map(lambda t: f"(-{t})"),
    ),
    max_leaves=8,
)
VALUES = st.fixed_dictionaries({name: st.integers(0, 40) for name in SYMBOLS})


def worked_out(dim: Dim, values: dict[str, int]) -> object:
    return dim if isinstance(dim, int) else evaluate(ast.parse(dim, mode="eval").body, values)


@given(EXPRESSIONS, VALUES, st.sets(st.sampled_from(SYMBOLS)))
def test_no_value_changes(text: str, values: dict[str, int], known: set[str]) -> None:
    simple = simplify(text, {name: values[name] for name in known})
    assert worked_out(simple, values) == worked_out(text, values)
    assert not symbols_of(simple) & known
    if isinstance(simple, str):
        assert simplify(simple, {}) == simple
