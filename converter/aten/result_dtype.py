"""The dtypes that results have before they are cast to what they are written to."""

from __future__ import annotations

from collections.abc import Iterator

from converter.aten.call import Arg, Call
from converter.aten.dtype import COMPLEX, FLOATING, kind, result_type
from converter.errors import UnsupportedError
from converter.ir import Operand

PREDICATES = frozenset(
    {
        *("eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_xor"),
        *("logical_not", "not_equal", "less", "less_equal", "greater", "greater_equal"),
        *("isneginf", "isposinf", "signbit"),
    }
)
KEEPS_DTYPE = frozenset({"copy", "fill", "fill_diagonal", "index_fill", "masked_fill"})
"""Operators whose result has the dtype of their first argument, whatever that of the others."""

SELECTORS = frozenset({"index", "indices", "mask"})
"""Arguments that take no part in the dtype of the result."""

ACCUMULATING = frozenset({"cumprod", "cumsum", "mean", "nansum", "prod", "sum"})
"""Operators that compute in the dtype of `out`."""

REAL = frozenset({"abs", "absolute", "angle"})
"""Operators whose results are real, of complex numbers too."""


def in_place_dtype(call: Call, written: Operand) -> str | None:
    """The dtype of the result of an in-place call's functional twin; None where it is unknown."""
    name = call.target.split(".")[1]
    if name in PREDICATES:
        return "bool"
    if name in KEEPS_DTYPE or written.dtype is None:
        return written.dtype
    if name in ("cumsum", "cumprod") and kind(written.dtype) < FLOATING:
        return "i64"
    return result_type(list(operands(call)))


def out_dtype(call: Call, output: Operand) -> str | None:
    """The dtype of the result that a call writes to `out`, whose dtype is that of `output`.

    Only elementwise operators and those that accumulate write to an `out` of another dtype than
    their result's; PyTorch refuses it of all others. Raises UnsupportedError where the arguments do
    not tell which it is.
    """
    name = call.target.split(".")[1]
    own = output.dtype
    if own is None or call.args.get("dtype", own) not in (own, None):
        raise other_dtype(call)
    if name in PREDICATES:
        return "bool"
    common = result_type(list(operands(call)))
    if call.args.get("dtype", own) is None and (common is None or name in ACCUMULATING):
        if common != own or kind(own) < FLOATING:
            call.args["dtype"] = own
        return own
    if common is None or own == "bool":
        return own
    if common == own and not (kind(own) == COMPLEX and name in REAL):
        return own
    if kind(own) < FLOATING <= kind(common):
        return own  # indices
    raise other_dtype(call)


def other_dtype(call: Call) -> UnsupportedError:
    return call.refuse(
        "out= has another dtype than its arguments", "use the result that it returns without out="
    )


def operands(call: Call) -> Iterator[Operand]:
    """The tensors that take part in the dtype of a result, lists opened."""
    for name, value in call.args.items():
        if name not in SELECTORS:
            yield from tensors(value)


def tensors(value: Arg) -> Iterator[Operand]:
    if isinstance(value, Operand):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from tensors(item)
