"""Symbolic values: what torch writes of SymPy expressions must keep its value as plain text."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from converter.archive.expression import plain

S0 = "Symbol('s0', positive=True, integer=True)"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("s0", "s0"),
        ("4", "4"),
        ("2*s0 + 1", "2*s0+1"),
        ("s0 - (s1 - 2)", "s0-(s1-2)"),
        ("-s0 // 2", "-s0//2"),
        ("(s0 + 1) ** 2 / 3", "(s0+1)**2/3"),
        ("Max(1, s0 // 2)", "Max(1,s0//2)"),
        ("s0 % 2 == 0", "s0%2==0"),
        (S0, "s0"),
        (f"Mul(Integer(4), {S0})", "4*s0"),
        (f"Add(Mul(Integer(2), {S0}), Integer(1))", "2*s0+1"),
        (f"Add({S0}, Integer(-1))", "s0-1"),
        (f"Add(Symbol('u1'), Mul(Integer(-1), {S0}))", "u1-s0"),
        (f"Mul(Integer(2), Add({S0}, Integer(1)))", "2*(s0+1)"),
        (f"FloorDiv({S0}, Integer(2))", "s0//2"),
        (f"FloorDiv(Integer(2), FloorDiv({S0}, Integer(2)))", "2//(s0//2)"),
        (f"PythonMod({S0}, Integer(-2))", "s0%(-2)"),
        (f"Pow(Pow({S0}, Integer(2)), Integer(3))", "(s0**2)**3"),
        (f"Pow(Integer(-1), {S0})", "(-1)**s0"),
        (f"Mul(Rational(1, 2), {S0})", "1/2*s0"),
        (f"IntTrueDiv({S0}, Integer(2))", "IntTrueDiv(s0,2)"),
        (f"Equality(Mod({S0}, Integer(2)), Integer(0))", "s0%2==0"),
        (f"And(LessThan({S0}, Integer(2)), true)", "And(s0<=2,True)"),
        ("Float('0.5', precision=53)", "0.5"),
    ],
)
def test_plain(text: str, expected: str) -> None:
    assert plain(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "s0 s1",
        "s0\n+1",
        "é",
        "'text'",
        "s0.real",
        "[s0]",
        "lambda: 1",
        "s0[0]",
        "f(x)(y)",
        "f(*x)",
        "f(x=1)",
        "Symbol('a b')",
        "Symbol(s0)",
        "Pow(1, 2, 3)",
        "1 < s0 < 2",
        "Float('x')",
        "(" * 300 + "1" + ")" * 300,
        "-" * 4000 + "1",
        "1+" * 5000 + "1",
    ],
)
def test_refuses(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        plain(text)


def test_a_long_one_tells_what_to_do() -> None:
    with pytest.raises(ValueError, match="10001 characters, more than 4096; export it with fewer"):
        plain("1+" * 5000 + "1")


def expressions() -> st.SearchStrategy[str]:
    """Nests of SymPy's classes over two symbols, as `srepr` writes them."""
    leaves = st.one_of(
        st.integers(-5, 5).map(lambda n: f"Integer({n})"),
        st.sampled_from(["Symbol('s0', integer=True)", "Symbol('s1')"]),
    )
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.tuples(st.sampled_from(["Add", "Mul"]), st.lists(inner, min_size=2, max_size=4)),
            st.tuples(st.sampled_from(["FloorDiv", "PythonMod", "Max"]), st.tuples(inner, inner)),
            st.tuples(st.just("Pow"), inner.map(lambda base: (base, "Integer(2)"))),
        ).map(lambda call: f"{call[0]}({', '.join(call[1])})"),
        max_leaves=12,
    )


@given(expressions(), st.integers(-9, 9), st.integers(-9, 9))
def test_keeps_the_value(text: str, s0: int, s1: int) -> None:
    def product(*factors: int) -> int:
        result = 1
        for factor in factors:
            result *= factor
        return result

    classes = {
        "Integer": int,
        "Symbol": lambda name, **_: {"s0": s0, "s1": s1}[name],
        "Add": lambda *terms: sum(terms),
        "Mul": product,
        "FloorDiv": lambda a, b: a // b,
        "PythonMod": lambda a, b: a % b,
        "Pow": lambda a, b: a**b,
        "Max": max,
    }
    try:
        expected = eval(text, {}, classes)
    except ZeroDivisionError:
        assume(False)
    values = {"s0": s0, "s1": s1, "Max": max}
    assert eval(plain(text), {}, values) == expected
    assert eval(plain(plain(text)), {}, values) == expected
