"""`pnnx.Expression` as Python: `add(mul(@0,2),size(@1,0))` becomes `((v_3 * 2) + v_5.size(0))`.

    expression = @operand | constant | name(expression, ...) | [expression, ...]
    constant   = None | True | False | 3 | 1.000000e-5 | inf | 1.000000e+00-2.000000e+00j | a word

A word (`reflect`) is a string and can only stand alone. Functions of tensors are torch's; the same
functions of sizes and constants are Python's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum

from converter.pnnx.literal import literal
from converter.pnnx.names import words
from converter.pnnx.value import parse_value

MAX_DEPTH = 40
"""How deep one line may nest: Python's parser takes 200 brackets."""


class Kind(Enum):
    tensor = "tensor"
    number = "number"
    list = "list"
    other = "other"


@dataclass(frozen=True)
class Code:
    """A piece of Python, what it makes, how deep it nests; the items of a list."""

    text: str
    kind: Kind
    depth: int = 0
    items: tuple[Code, ...] = ()


_INFIX = (
    "add +,sub -,mul *,div /,floor_divide //,remainder %,pow **,and &,or |,xor ^,lshift <<,"
    "rshift >>,eq ==,ne !=,lt <,le <=,gt >,ge >="
)
_UNARY = words(
    """
    acos acosh asin asinh atan atanh ceil cos cosh erf erfc exp exp2 expm1 floor lgamma log log10
    log1p log2 sin sinh sqrt tan tanh trunc
    """
)
"""What torch and math have under one name."""


def _table() -> dict[str, tuple[str, str]]:
    """Templates by function: for tensors (and tensors with numbers), and for numbers alone."""
    table: dict[str, tuple[str, str]] = {}
    for row in _INFIX.split(","):
        name, sign = row.split()
        table[name] = (f"({{}} {sign} {{}})",) * 2
    for name in _UNARY:
        table[name] = (f"torch.{name}({{}})", f"math.{name}({{}})")
    for name in ("atan2", "fmod"):
        table[name] = (f"torch.{name}({{}}, {{}})", f"math.{name}({{}}, {{}})")
    for name in ("logaddexp", "logical_and", "logical_or", "logical_xor"):
        table[name] = (f"torch.{name}({{}}, {{}})", "")
    for name in ("sign", "sigmoid", "real", "imag"):
        table[name] = (f"torch.{name}({{}})", "")
    for name in ("max", "min"):
        table[name] = table[f"{name}imum"] = (
            f"torch.{name}imum({{}}, {{}})",
            f"{name}({{}}, {{}})",
        )
    return table | {
        "int": ("int({})", "int({})"),
        "float": ("float({})", "torch.sym_float({})"),  # float() makes a size a constant in exports
        "neg": ("(-{})",) * 2,
        "abs": ("torch.abs({})", "abs({})"),
        "round": ("torch.round({})", "round({})"),
        "square": ("torch.square({})", "({} ** 2)"),
        "rsqrt": ("torch.rsqrt({})", "({} ** -0.5)"),
        "reciprocal": ("torch.reciprocal({})", "(1 / {})"),
        "logical_not": ("torch.logical_not({})", "(not {})"),
        "bitwise_not": ("torch.bitwise_not({})", "(~{})"),
    }


FUNCTIONS = _table()
_LIMIT = {"max": "min", "maximum": "min", "min": "max", "minimum": "max"}
"""The argument of torch.clamp that takes the number, where the other argument is a tensor."""

_NUMBER = r"(?:\d+\.?\d*(?:e[+-]?\d+)?|inf|nan(?:\.0)?)"
_TOKEN = re.compile(
    rf"(?P<operand>@\d+)|(?P<call>[a-z_]\w*)\(|(?P<mark>[\[\](),])"
    rf"|(?P<constant>None|True|False|-?{_NUMBER}(?:[+-]{_NUMBER}j)?)(?=[\[\](),]|$)"
)


@dataclass
class _Open:
    """A call or a list that has not ended yet; the outermost has no name."""

    name: str
    args: list[Code] = field(default_factory=list)


def translate(text: str, operands: Sequence[Code], hoist: Callable[[str], str]) -> Code:
    """Translate an expression whose `@0`, `@1`… are `operands`.

    Where it nests too deep for one line, `hoist` is given the inner part and returns the variable
    that will hold it. Raises ValueError for what is not an expression.
    """
    if re.fullmatch(r"[^\d\W][\w.:-]*", text) and not _TOKEN.fullmatch(text):
        return Code(literal(text), Kind.other)
    stack = [_Open("")]
    place = 0
    wants_value = True
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            raise ValueError(f"{text[place : place + 20]!r} is not understood")
        place = match.end()
        mark = match["mark"]
        if (mark in (None, "[") and not wants_value) or (
            mark in (")", "]", ",") and wants_value and (mark == "," or stack[-1].args)
        ):
            raise ValueError(f"unexpected {match[0]!r}")
        if match["call"] or mark == "[":
            stack.append(_Open(match["call"] or "["))
        elif mark == ",":
            if len(stack) == 1:
                raise ValueError("unexpected ','")
            wants_value = True
        elif mark:
            stack[-2:] = [_close(mark, stack, hoist)]
            wants_value = False
        else:
            stack[-1].args.append(_leaf(match, operands))
            wants_value = False
    if len(stack) != 1 or wants_value:
        raise ValueError("it ends too soon")
    return stack[0].args[0]


def _close(mark: str, stack: list[_Open], hoist: Callable[[str], str]) -> _Open:
    """End the innermost call or list and give it to the one around it."""
    inner = stack[-1]
    if len(stack) == 1 or (mark == "]") is not (inner.name == "["):
        raise ValueError(f"unexpected {mark!r}")
    outer = stack[-2]
    code = _list(inner.args) if mark == "]" else apply(inner.name, inner.args)
    if code.depth > MAX_DEPTH:
        code = Code(hoist(code.text), code.kind, items=code.items)
    outer.args.append(code)
    return outer


def _leaf(match: re.Match[str], operands: Sequence[Code]) -> Code:
    if match["operand"]:
        index = int(match["operand"][1:])
        if index >= len(operands):
            raise ValueError(f"there is no operand {match['operand']}")
        return operands[index]
    value = parse_value(match["constant"])
    text = literal(value)
    kind = Kind.other if value is None else Kind.number
    return Code(f"({text})" if text.startswith("-") else text, kind)


def _list(items: list[Code]) -> Code:
    depth = 1 + max((item.depth for item in items), default=0)
    text = f"[{', '.join(item.text for item in items)}]"
    return Code(text, Kind.list, depth, tuple(items))


def apply(name: str, args: Sequence[Code]) -> Code:
    """Call a function of expressions. Raises ValueError if there is none for these arguments."""
    if name == "size":
        return _size(args)
    kinds = {arg.kind for arg in args}
    made = Kind.tensor if Kind.tensor in kinds else Kind.number
    template = FUNCTIONS.get(name, ("", ""))[made is Kind.number]
    if name in _LIMIT and kinds == {Kind.tensor, Kind.number}:
        args = sorted(args, key=lambda arg: arg.kind is Kind.number)
        template = f"torch.clamp({{}}, {_LIMIT[name]}={{}})"
    if not kinds <= {Kind.tensor, Kind.number} or not template:
        raise ValueError(f"there is no function {name} of {made.value}s")
    if template.count("{}") != len(args):
        raise ValueError(f"{name} takes {template.count('{}')} arguments, not {len(args)}")
    if name in ("int", "float"):
        made = Kind.number
    depth = 1 + max(arg.depth for arg in args)
    return Code(template.format(*(arg.text for arg in args)), made, depth)


def _size(args: Sequence[Code]) -> Code:
    kinds = [arg.kind for arg in args]
    depth = 1 + max((arg.depth for arg in args), default=0)
    if kinds == [Kind.tensor]:
        return Code(f"{args[0].text}.size()", Kind.list, depth)
    if kinds == [Kind.tensor, Kind.number]:
        return Code(f"{args[0].text}.size({args[1].text})", Kind.number, depth)
    raise ValueError("size takes a tensor and a dim")
