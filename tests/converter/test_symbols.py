"""Symbolic dims, once their symbols have values."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from converter.archive.expression import plain
from converter.errors import UnsupportedError
from converter.symbols import Symbols

SYMBOLS = Symbols({"s0": 7, "s1": 4})


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("s0", 7),
        ("2*s0+1", 15),
        ("-s0", -7),
        ("s0//2", 3),
        ("s0%4", 3),
        ("s0**2", 49),
        ("s0/s1", 1.75),
        ("(s0+1)//2*s1", 16),
        ("Max(1,s0,s1)", 7),
        ("Min(s0,s1)", 4),
        ("CeilToInt(IntTrueDiv(s0,2))", 4),
        ("FloorToInt(2.5)", 2),
        ("TruncToInt(-2.5)", -2),
        ("CeilDiv(s0,2)", 4),
        ("PowByNatural(s1,3)", 64),
        ("FloatPow(s1,0.5)", 2.0),
        ("OpaqueUnaryFn_sqrt(s1)", 2.0),
        ("Where(s0>4,1,2)", 1),
        ("s0==7", True),
        ("s0!=7", False),
        ("And(s0>4,s1<4)", False),
        ("Or(s0>4,Not(s1<4))", True),
        ("4<s0<8", True),
        ("True", True),
    ],
)
def test_expressions(expression: str, value: float) -> None:
    result = SYMBOLS.evaluate(expression)
    assert (result, type(result)) == (value, type(value))


def test_shapes() -> None:
    assert SYMBOLS.shape((1, "s0", "2*s1")) == (1, 7, 8)
    assert SYMBOLS.known((1, "s0", "u3", "2*u3+s0")) == (1, 7, "u3", "2*u3+7")


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("s5", "the dim s5 is dynamic"),
        ("2*s5", "the dim s5 is dynamic"),
        ("u0+1", "u0 depends on the values of tensors"),
        ("s0//0", "cannot be read"),
        ("Unheard(s0)", "cannot be read"),
        ("Max()", "cannot be read"),
        ("s0 +", "cannot be read"),
        ("10**10**10", "cannot be read"),
        ("PowByNatural(10,1000000)", "cannot be read"),
        ("FloatPow(-8,0.5)", "cannot be read"),
        ("__import__('os')", "cannot be read"),
        ("'text'", "cannot be read"),
        ("(" * 300 + "s0" + ")" * 300, "cannot be read"),
    ],
)
def test_what_has_no_value(expression: str, message: str) -> None:
    with pytest.raises(UnsupportedError, match=message):
        SYMBOLS.evaluate(expression)


@pytest.mark.parametrize("expression", ["s0/2", "s0/0.0", "1e400"])
def test_what_is_no_size(expression: str) -> None:
    with pytest.raises(UnsupportedError):
        SYMBOLS.size(expression)


numbers = st.integers(-20, 20)
expressions = st.recursive(
    numbers.map(str) | st.sampled_from(["s0", "s1"]),
    lambda inner: st.tuples(st.sampled_from("+-*"), inner, inner).map(
        lambda parts: f"({parts[1]}{parts[0]}{parts[2]})"
    ),
    max_leaves=12,
)


@given(expressions, numbers, numbers)
def test_agrees_with_python(expression: str, s0: int, s1: int) -> None:
    expected = eval(expression, {"s0": s0, "s1": s1})
    assert Symbols({"s0": s0, "s1": s1}).evaluate(plain(expression)) == expected
    assert math.isfinite(expected)
