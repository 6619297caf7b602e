"""How params are spelled. The expected texts are what the pnnx program wrote for these values."""

import cmath
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from converter.pnnx.value import format_float, format_value, parse_value


@pytest.mark.parametrize(
    ("single", "text"),
    [
        (0.1, "0.1"),
        (1.0, "1.0"),
        (-1.5, "-1.5"),
        (0.0, "0.0"),
        (1e-4, "0.0001"),
        (0.00011, "0.00011"),
        (9e-5, "9.000000e-5"),
        (1e-12, "1.000000e-12"),
        (999999.0, "999999.0"),
        (100000.5, "100000.5"),
        (999999.9, "999999.875"),
        (1e6, "1.000000e6"),
        (1234567.0, "1.234567e6"),
        (16777216.0, "1.67772160e7"),
        (1e10, "1.000000e10"),
        (3.4e38, "3.400000e38"),
        (1 / 3, "0.333333343"),
        (1.2345678, "1.23456776"),
        (0.0012345678, "1.23456784e-3"),
        (0.00012345678, "1.23456775e-4"),
        (-0.09129825816118142, "-9.12982598e-2"),
        (0.021516012, "0.021516012"),
        (3.031859454455258, "3.0318594"),
        (12345.678, "12345.6777"),
        (-123456.789, "-123456.789"),
    ],
)
def test_single_precision_floats_are_spelled_as_pnnx_spells_them(single, text):
    """pnnx has singles: what it prints, read back, must be printed the same."""
    assert np.float32(text) == np.float32(single)
    assert format_float(float(text)) == text


@given(st.floats(width=64))
def test_any_double_is_read_back(value):
    read = parse_value(format_value(value))
    assert isinstance(read, float)
    assert math.copysign(1, read) == math.copysign(1, value) or math.isnan(value)
    assert read == value or (math.isnan(read) and math.isnan(value))


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_what_pnnx_would_print_of_a_single_is_kept(single):
    """A file of pnnx, read and written, does not change."""
    nine_digits = float(f"{single:.9g}")
    assert format_float(nine_digits) == format_float(float(format_float(nine_digits)))
    assert np.float32(format_float(nine_digits)) == np.float32(single)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "None"),
        (True, "True"),
        (-3, "-3"),
        (2**40, "1099511627776"),
        (math.inf, "inf"),
        (-math.inf, "-inf"),
        ((1,), "(1)"),
        ((), "()"),
        ((2.0, 2.0), "(2.0,2.0)"),
        ((None, 2), "(None,2)"),
        (((1, 2), (3,)), "((1,2),(3))"),
        ("zeros", "zeros"),
        ("torch.float", "torch.float"),
        ("ijl,ilk->ijk", "ijl,ilk->ijk"),
        (1 + 2j, "1.000000e+00+2.000000e+00j"),
        (complex(-0.0, -1.5), "-0.000000e+00-1.500000e+00j"),
    ],
)
def test_values_and_their_texts(value, text):
    assert format_value(value) == text
    assert parse_value(text) == value
    assert type(parse_value(text)) is type(value)


@given(st.complex_numbers(allow_nan=False))
def test_any_complex_is_read_back(value):
    assert parse_value(format_value(value)) == value or cmath.isinf(value)


SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False)
WORDS = st.from_regex(r"[a-z][a-z0-9_.\->]{0,8}", fullmatch=True).filter(
    lambda word: word not in ("inf", "nan", "nan.0")
)


@given(
    st.recursive(
        SCALARS | WORDS, lambda inner: st.lists(inner, max_size=4).map(tuple), max_leaves=9
    )
)
def test_any_nest_of_tuples_is_read_back(value):
    assert parse_value(format_value(value)) == value


@given(st.text(max_size=8))
def test_a_string_is_read_back_or_refused(text):
    try:
        written = format_value(text)
    except ValueError:
        return
    assert parse_value(written) == text
    assert written.split() == [written]


@pytest.mark.parametrize(
    "text", ["", " ", "a b", "1", "1.5", "True", "None", "inf", "(1)", "(", "1e5", "a\nb", "\x85"]
)
def test_strings_that_would_read_as_something_else_are_refused(text):
    with pytest.raises(ValueError, match="read back"):
        format_value(text)


@pytest.mark.parametrize("item", ["a,b", "a(b)", "]", "1"])
def test_strings_in_tuples_are_refused_where_they_would_split(item):
    with pytest.raises(ValueError, match="read back"):
        format_value(("x", item))


@pytest.mark.parametrize("text", ["(1", "(1))", "(1)(2)", "((1)", "(1]", "(" * 40 + ")" * 40])
def test_malformed_tuples_are_refused(text):
    with pytest.raises(ValueError, match=r"tuple|brackets"):
        parse_value(text)
