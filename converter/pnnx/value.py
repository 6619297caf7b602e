"""How `.pnnx.param` spells the values of params: `True`, `3`, `1.000000e-5`, `(1,1)`, `zeros`.

pnnx keeps floats in single precision and prints the fewest of a few fixed forms that reads back. A
double that needs more digits is written with all of them, so that no value changes on the way.
"""

from __future__ import annotations

import math
import re

import numpy as np

from converter.ir import Param

_WORDS: dict[str, Param] = {"None": None, "True": True, "False": False, "nan.0": math.nan}
_NUMBER = r"(?:\d+\.?\d*(?:e[+-]?\d+)?|inf|nan)"
_INT = re.compile(r"-?\d+")
_FLOAT = re.compile(rf"-?{_NUMBER}")
_COMPLEX = re.compile(rf"(-?{_NUMBER})([+-]{_NUMBER})j")
_MAX_DEPTH = 16


def parse_value(text: str) -> Param:
    """Read one value. Text that is no other kind of value is a string. Raises ValueError."""
    return _parse(text, _MAX_DEPTH)


def _parse(text: str, depth: int) -> Param:
    if text in _WORDS:
        return _WORDS[text]
    if _INT.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    if match := _COMPLEX.fullmatch(text):
        return complex(float(match[1]), float(match[2]))
    if not text.startswith("("):
        return text
    if not text.endswith(")") or not depth:
        raise ValueError(f"{text!r} is not a tuple")
    return tuple(_parse(item, depth - 1) for item in split_items(text[1:-1]))


def split_items(text: str) -> list[str]:
    """Split at the commas that no bracket encloses. Raises ValueError for unbalanced brackets."""
    items: list[str] = []
    depth = start = 0
    for place, char in enumerate(text):
        if char in "([":
            depth += 1
        elif char in ")]":
            depth -= 1
        elif char == "," and not depth:
            items.append(text[start:place])
            start = place + 1
        if depth < 0:
            break
    if depth:
        raise ValueError(f"{text!r} has unbalanced brackets")
    return [*items, text[start:]] if text else []


def format_value(value: Param) -> str:
    """Write one value. Raises ValueError for a string that would not be read back as it is."""
    if isinstance(value, tuple):
        return f"({','.join(map(_format_item, value))})"
    if isinstance(value, bool | int) or value is None:
        return str(value)
    if isinstance(value, float):
        return format_float(value)
    if isinstance(value, complex):
        return _scientific(value.real) + _scientific(value.imag, sign="+") + "j"
    if value.split() != [value] or value.startswith("(") or parse_value(value) != value:
        raise ValueError(f"the string {value!r} would not be read back as it is")
    return value


def _format_item(value: Param) -> str:
    if isinstance(value, str) and not set("()[],").isdisjoint(value):
        raise ValueError(f"the string {value!r} would not be read back as it is")
    return format_value(value)


def format_float(value: float) -> str:
    """Write a float as pnnx does where that reads back, with all its digits where it does not."""
    if not math.isfinite(value):
        return str(value)
    text = _pnnx_float(value)
    return text if float(text) == value else repr(value)


def _pnnx_float(value: float) -> str:
    short = f"{value:g}"
    if "e" not in short and _single(short) == _single(value):
        return short if "." in short else f"{short}.0"
    if 1e-4 <= abs(value) < 1e6:
        fixed = f"{value:.9g}"
        if len(fixed.partition(".")[2]) <= 9:
            return fixed
        text = f"{value:.8e}"
    else:
        text = f"{value:e}"
        if _single(text) != _single(value):
            text = f"{value:.8e}"
    mantissa, _, exponent = text.partition("e")
    return f"{mantissa}e{int(exponent)}"


def _single(value: float | str) -> np.float32:
    with np.errstate(over="ignore"):
        return np.float32(value)


def _scientific(value: float, sign: str = "") -> str:
    text = format(value, f"{sign}e")
    return (
        text if not math.isfinite(value) or float(text) == value else format(value, f"{sign}.17g")
    )
