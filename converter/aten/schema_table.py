"""The schemas of ATen operators: argument names, types, defaults, and what is mutated or aliased.

They are looked up in `schemas.txt`, which `generate_schemas` writes: one overload a line, in
PyTorch's schema language (aten/src/ATen/native/README.md). A line is parsed when it is asked for.

The table is of the newest torch. Where an earlier one had other arguments or defaults, there is a
second line: `until 2.8 aten::…` holds for torch 2.8 and those before it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Final

import msgspec

from converter.archive.values import MemoryFormat, Value

TABLE = Path(__file__).with_name("schemas.txt")

PYTHON = frozenset({"_operator", "math", "torch"})
"""The modules of the Python functions that programs call on symbolic numbers."""


Release = tuple[int, int]
"""`(2, 8)` of torch 2.8.0."""


class Missing(Enum):
    """The default of an argument that has none."""

    missing = "missing"


MISSING: Final = Missing.missing


class Type(msgspec.Struct, frozen=True):
    """`SymInt[2]?` is base `int`, a list of size 2, optional. `Tensor?[]` has optional elements.

    `base` is a value of BASES. `alias` is the alias set (`a` of `Tensor(a!)`), empty for none.
    """

    base: str
    is_list: bool = False
    size: int | None = None
    optional: bool = False
    optional_elements: bool = False
    alias: str = ""
    mutated: bool = False


class Argument(msgspec.Struct, frozen=True):
    name: str
    type: Type
    default: Value | Missing = MISSING
    kwarg_only: bool = False


class OpSchema(msgspec.Struct, frozen=True):
    """The signature of one overload, `default` being the one without a name.

    `namespace` is `aten`, `prims` or `torchvision`, or the module of a Python function (PYTHON).
    """

    namespace: str
    name: str
    overload: str
    arguments: tuple[Argument, ...]
    returns: tuple[Type, ...]

    @property
    def mutates(self) -> bool:
        """Whether the operator writes to an argument (in-place and `out=` overloads)."""
        return any(argument.type.mutated for argument in self.arguments)

    @property
    def is_python(self) -> bool:
        """Whether it is a Python function on symbolic numbers, not a torch operator."""
        return self.namespace in PYTHON


@cache
def schema(target: str, release: Release | None = None) -> OpSchema | None:
    """Look up a node's target: `torch.ops.aten.conv2d.default`, `_operator.mul`; None if unknown.

    Higher-order operators (`torch.ops.higher_order.cond`) have no schema. What `release` had in
    another way is as it was there; what came after it is there all the same, with its default,
    which stands for what the operator did before.
    """
    key = _key(target)
    line = _table().get(key)
    if line is None:
        return None
    former = _former(key, release)
    return parse(line) if former is None else as_before(parse(line), former)


def as_before(newest: OpSchema, former: OpSchema) -> OpSchema:
    """An operator with the arguments that it had in an earlier torch, and those that came later."""
    had = {argument.name for argument in former.arguments}
    later = [
        argument
        for argument in newest.arguments
        if argument.name not in had and argument.default is not MISSING
    ]
    return msgspec.structs.replace(newest, arguments=(*former.arguments, *later))


def _former(key: str, release: Release | None) -> OpSchema | None:
    """What an operator was in an earlier torch, None where that is what it is."""
    for until in _releases() if release else ():
        line = _table().get(f"until {until[0]}.{until[1]} {key}")
        if line is not None and release is not None and release <= until:
            return parse(line.split(" ", 2)[2])
    return None


def release(version: str) -> Release | None:
    """Read `2.7.1+cu126`; None for what tells no release."""
    found = re.match(r"(\d{1,3})\.(\d{1,3})(?!\d)", version)
    return (int(found[1]), int(found[2])) if found else None


@cache
def overloads(namespace: str, name: str) -> tuple[OpSchema, ...]:
    """List the overloads of an operator; none for one that is unknown."""
    key = f"{namespace}::{name}"
    lines = (line for one, line in _table().items() if one.partition(".")[0] == key)
    return tuple(parse(line) for line in lines)


def _key(target: str) -> str:
    """Turn a target into the name that its line begins with: `aten::conv2d.padding`."""
    parts = target.split(".")
    if parts[:2] == ["torch", "ops"] and len(parts) == 5:
        _, _, namespace, name, overload = parts
        return f"{namespace}::{name}" + (f".{overload}" if overload != "default" else "")
    if len(parts) == 2 and parts[0] in PYTHON:
        return f"{parts[0]}::{parts[1]}"
    return ""


@cache
def _releases() -> tuple[Release, ...]:
    """Those that the table has lines of, earliest first."""
    untils = {line.split(" ", 2)[1] for line in _table().values() if line.startswith("until ")}
    return tuple(sorted(found for until in untils if (found := release(until))))


@cache
def _table() -> Mapping[str, str]:
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    return {line[: line.index("(")]: line for line in lines if not line.startswith("#")}


# --- the schema language

BASES: Mapping[str, str] = {
    **{
        name: name
        for name in (
            *("Tensor", "Scalar", "int", "float", "bool", "complex", "str"),
            *("ScalarType", "MemoryFormat", "Layout", "Device", "Generator"),
        )
    },
    "SymInt": "int",
    "SymFloat": "float",
    "SymBool": "bool",
}
"""The types that an exported program's arguments have, and what they count as here."""

HEAD = re.compile(r"(\w+)::(\w+)(?:\.(\w+))?\(")
TYPE = r"(?P<base>\w+)(?:\((?P<alias>[^()]*)\))?(?P<suffix>\??(?:\[\d*\]\??)?)"
ARGUMENT = re.compile(
    rf"(?P<star>\*)|{TYPE} (?P<name>\w+)"
    r"""(?:=(?P<default>"(?:[^"\\]|\\.)*"|\[[^\]]*\]|[^,)]+))?"""
)
RETURN = re.compile(rf"{TYPE}(?: \w+)?")

C10_DTYPES: Mapping[str, str] = {"4": "i64"}
C10_MEMORY_FORMATS: Mapping[str, MemoryFormat] = {"0": MemoryFormat.contiguous_format}
"""Enum defaults are printed as c10's numbers; these are the ones that occur."""


def parse(line: str) -> OpSchema:
    """Parse a schema. Raises ValueError for a type that exported programs have no values of."""
    head = HEAD.match(line)
    if head is None:
        raise ValueError(f"not a schema: {line}")
    namespace, name, overload = head.groups("default")
    arguments, kwarg_only = [], False
    end = head.end()
    for item in _items(ARGUMENT, line, end):
        end = item.end()
        if item["star"]:
            kwarg_only = True
            continue
        type = _type(item)
        default = MISSING if item["default"] is None else _default(item["default"], type)
        arguments.append(Argument(item["name"], type, default, kwarg_only))
    arrow = line[end:].partition(" -> ")
    returns = []
    end += len(") -> ") + arrow[2].startswith("(")
    for item in _items(RETURN, line, end):
        end = item.end()
        returns.append(_type(item))
    if arrow[0] != ")" or line[end:] not in ("", ")"):
        raise ValueError(f"not understood: {line}")
    return OpSchema(namespace, name, overload, tuple(arguments), tuple(returns))


def _items(pattern: re.Pattern[str], line: str, start: int) -> Iterator[re.Match[str]]:
    """Match a list of items that are separated by commas."""
    while item := pattern.match(line, start):
        yield item
        if not line.startswith(", ", item.end()):
            return
        start = item.end() + 2


def _type(item: re.Match[str]) -> Type:
    if item["base"] not in BASES:
        raise ValueError(f"the type {item['base']}")
    alias, suffix = item["alias"] or "", item["suffix"]
    is_list = "[" in suffix
    size = suffix.strip("?[]")
    return Type(
        base=BASES[item["base"]],
        is_list=is_list,
        size=int(size) if size else None,
        optional=suffix.endswith("?"),
        optional_elements=is_list and suffix.startswith("?"),
        alias=alias.partition(" ")[0].strip("!"),
        mutated="!" in alias,
    )


def _default(text: str, type: Type) -> Value:
    """Read a default: Python's literals, but for enums."""
    if text == "None":
        return None
    if type.base == "ScalarType":
        return C10_DTYPES[text]
    if type.base == "MemoryFormat":
        return C10_MEMORY_FORMATS[text]
    value = ast.literal_eval(text)
    if type.is_list:
        return tuple(value) if isinstance(value, list) else (value,) * (type.size or 1)
    if type.base == "float":
        return float(value)
    if not isinstance(value, bool | int | float | str):
        raise ValueError(f"the default {text}")
    return value
