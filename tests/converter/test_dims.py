"""Dims as polynomials: one text for equal ones, the same value as the expression's."""

from __future__ import annotations

import ast
import sys

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


def nested(depth: int) -> str:
    """What a stack of convolutions with a stride of 2 makes of a dim."""
    text = "s0"
    for _ in range(depth):
        text = f"({text}-1)//2"
    return text


def calls_to_simplify(text: str) -> int:
    count = 0

    def tell(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(tell)
    try:
        simplify(text, {})
    finally:
        sys.setprofile(None)
    return count


def test_nested_divisions_are_simplified_once_each() -> None:
    assert calls_to_simplify(nested(30)) < 6 * calls_to_simplify(nested(15))
    assert simplify(nested(3), {}) == "(((s0-1)//2-1)//2-1)//2"


@pytest.mark.parametrize(
    "text",
    [
        nested(40),
        "(((2**8)**8)**8)**8",
        "((((s0+1)//2)**8//2)**8//2)**8",
        "*".join(["(s0+123456789123456789)"] * 9),
    ],
)
def test_what_would_be_large_is_refused(text: str) -> None:
    with pytest.raises(UnsupportedError, match="a symbolic size"):
        simplify(text, {})


@pytest.mark.parametrize(
    "text",
    [
        "RoundToInt(7,-999999999)",
        "round(7,-999999999)",
        "Max(ExprCondPair(1,2)*50000000)",
        "ExprCondPair(1,2)+ExprCondPair(1,2)",
        "Piecewise(1)",
        "*".join(["2147483647**64"] * 40),
    ],
)
def test_what_is_no_number_is_not_worked_out(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 (all of them say what they cannot read)
        evaluate(ast.parse(text, mode="eval").body, {})


def test_the_first_condition_that_holds_decides() -> None:
    text = "Piecewise(ExprCondPair(s0//0,s0<3),ExprCondPair(2*s0,s0<9))"
    assert evaluate(ast.parse(text, mode="eval").body, {"s0": 5}) == 10


def test_long_sums_are_no_deep_ones() -> None:
    text = "+".join(f"s{place % 7}" for place in range(800))
    assert simplify(text, {}) == "115*s0+115*s1+114*s2+114*s3+114*s4+114*s5+114*s6"
