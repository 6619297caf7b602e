"""`pnnx.Expression`: arithmetic written as text, such as `add(mul(@0,2),@1)`."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain

from converter.ncnn.arithmetic import (
    ADD,
    ATAN2,
    DIV,
    LOGADDEXP,
    MAX,
    MIN,
    MUL,
    SUB,
    UNARY,
    binary,
    unary,
)
from converter.ncnn.blob import Blob
from converter.ncnn.boolean import Number, logical
from converter.ncnn.division import DIVISIONS, WHOLE
from converter.ncnn.graph import FLOATS
from converter.ncnn.op import Op
from converter.ncnn.power import power
from converter.ncnn.reduction import L2, number_of, reduce
from converter.ncnn.registry import ncnn

BINARY = {
    "add": ADD,
    "sub": SUB,
    "mul": MUL,
    "div": DIV,
    "max": MAX,
    "maximum": MAX,
    "min": MIN,
    "minimum": MIN,
    "atan2": ATAN2,
    "logaddexp": LOGADDEXP,
}

LOGICAL = ("and", "or", "xor")

COUNTS = ("i32", "i64")
"""Integers that a blob may hold as floats to compute floats of: others wrap around."""

CONSTANTS: dict[str, Callable[[float, float], float]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "pow": math.pow,
    "floor_divide": operator.floordiv,
    "remainder": operator.mod,
    "max": max,
    "maximum": max,
    "min": min,
    "minimum": min,
    "atan2": math.atan2,
    "fmod": math.fmod,
}
_OF_MATH = (
    "acos acosh asin asinh atan atanh ceil cos cosh erf exp expm1 floor log log10 log1p sin sinh"
    " sqrt tan tanh trunc"
)
UNARY_CONSTANTS: dict[str, Callable[[float], float]] = {
    **{word: getattr(math, word) for word in _OF_MATH.split()},
    "abs": abs,
    "neg": operator.neg,
    "reciprocal": lambda a: 1 / a,
    "round": round,
    "rsqrt": lambda a: 1 / math.sqrt(a),
    "sign": lambda a: (a > 0) - (a < 0),
    "square": lambda a: a * a,
}
"""What may be computed of numbers alone."""

_TOKEN = re.compile(r"[^(),]+")


@ncnn("pnnx.Expression", dtypes="checked")
def expression(op: Op) -> Blob:
    return evaluated(op, op.text("expr"))


def evaluated(op: Op, text: str) -> Blob:
    """What an expression computes. `@0` is an input, `@alpha` one or a param by that name."""
    if text.startswith("["):
        op.refuse("indexes several dims by tensors, or one by computed ones", "slice the tensor")
    words = iter(_TOKEN.findall(text))
    value = _value(op, words)
    if next(words, None) is not None:
        op.refuse(f"cannot read the expression {text}")
    if not isinstance(value, Blob):
        op.refuse("is a number, and ncnn computes with tensors")
    return value


def _value(op: Op, words: Iterator[str]) -> Number:
    """Lower what the next word begins: in this notation each function is before its arguments."""
    word = next(words, "")
    if word.startswith("@"):
        return _input(op, word)
    if word == "size":
        place, dim = next(words, ""), next(words, "")
        return number_of(op, op.blob(int(place[1:])).shape[int(dim)])
    if word in UNARY or word == "erf":
        inner = next(words, "")
        if word in WHOLE and inner == "div":
            return _whole(op, word, _value(op, words), _value(op, words))
        x = _value(op, chain((inner,), words))
        if not isinstance(x, Blob):
            return float(UNARY_CONSTANTS[word](x))
        if x.dtype == "c64":
            return _of_complex(op, word, x)
        return unary(op, word, x)
    if word in BINARY or word in ("pow", *DIVISIONS, *LOGICAL):
        return _binary(op, word, _value(op, words), _value(op, words))
    try:
        return float(word)
    except ValueError:
        op.refuse(f"{word} has no ncnn layer")


def _input(op: Op, word: str) -> Number:
    """An input or a param; a constant of one value is that number."""
    name = word[1:]
    if name in op.params:
        return op.number(name)
    blob = op.blob(int(name) if name.isdigit() else op.names.index(name))
    counted = blob.dtype in COUNTS and not blob.indices and op.output.dtype in FLOATS
    if blob.dtype not in (*FLOATS, "bool", "c64") and not counted:
        op.refuse(f"computes in {blob.dtype}, and ncnn in floats", "convert it with .float()")
    if blob.values is not None and blob.values.size == 1:
        return float(blob.values.array().reshape(()).item())
    return blob


def _binary(op: Op, word: str, a: Number, b: Number) -> Number:
    if not isinstance(a, Blob) and not isinstance(b, Blob):
        if word not in CONSTANTS:
            op.refuse(f"{word} of the numbers {a} and {b}")
        return CONSTANTS[word](a, b)
    if isinstance(a, Blob) and isinstance(b, Blob) and "bool" in (a.dtype, b.dtype):
        if word in LOGICAL:
            return logical(op, word, a, b)
        if a.dtype == b.dtype:
            op.refuse(f"{word} of booleans", "convert them with .float()")
    if word in LOGICAL:
        op.refuse(f"{word} of numbers is not expressible in ncnn")
    if any(isinstance(number, Blob) and number.dtype == "c64" for number in (a, b)):
        return _scaled(op, word, a, b)
    if word == "pow":
        return power(op, a, b)
    if word in DIVISIONS:
        return DIVISIONS[word](op, a, b)
    return binary(op, BINARY[word], a, b)


def _whole(op: Op, word: str, a: Number, b: Number) -> Number:
    """A quotient made whole."""
    if isinstance(a, Blob) or isinstance(b, Blob):
        return _binary(op, WHOLE[word], a, b)
    return float(UNARY_CONSTANTS[word](a / b))


def _of_complex(op: Op, word: str, x: Blob) -> Blob:
    """The absolute value of pairs."""
    if word != "abs":
        op.refuse(f"{word} of a complex tensor is not expressible in ncnn")
    return reduce(op, L2, x, (x.rank - 1,), keepdim=False)


def _scaled(op: Op, word: str, a: Number, b: Number) -> Blob:
    """Pairs times or by a number."""
    if not isinstance(a, Blob) or isinstance(b, Blob) or word not in ("mul", "div"):
        op.refuse(f"{word} of complex tensors is not expressible in ncnn")
    return replace(binary(op, BINARY[word], a, b), dtype="c64")
