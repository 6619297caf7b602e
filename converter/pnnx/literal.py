"""Values as Python source."""

from __future__ import annotations

import math

from converter.ir import Param
from converter.pnnx.names import words

_NAMES = words(
    """
    float float32 double float64 half float16 bfloat16 long int64 int int32 short int16 int8
    uint8 bool complex32 complex64 complex128 cfloat cdouble chalf contiguous_format
    channels_last channels_last_3d preserve_format strided
    """
)
_CONSTANTS = frozenset(f"torch.{name}" for name in _NAMES)
"""The strings that stand for an object of torch."""


def is_constant(text: str) -> bool:
    """Whether a string is read as an object of torch."""
    return text in _CONSTANTS


def literal(value: Param) -> str:
    """Write a value as a Python expression in ASCII. `torch.float` and its like stay names."""
    if isinstance(value, tuple):
        items = ", ".join(map(literal, value))
        return f"({items},)" if len(value) == 1 else f"({items})"
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    if isinstance(value, complex):
        return f"complex({literal(value.real)}, {literal(value.imag)})"
    if isinstance(value, str):
        return value if value in _CONSTANTS else ascii(value)
    return repr(value)
