"""Read and write `.pnnx.param`, the text of a graph.

    7767517
    3 2
    pnnx.Input               pnnx_input_0             0 1 0 #0=(1,16)f32
    nn.Linear                fc                       1 1 0 1 bias=False in_features=16 ...
    pnnx.Output              pnnx_output_0            1 0 1

The magic number; the numbers of operators and operands; one line per operator: type, name, number
of inputs and outputs, their operands, then params (`key=value`), attributes (`@key=(shape)dtype`),
the argument names of inputs (`$name=operand`) and the shapes of operands (`#operand=(shape)dtype`,
`?` for a dynamic dim).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TextIO

from converter.errors import ConvertError, UnsupportedError
from converter.ir import DTYPES, Array, Attribute, Dim, Graph, Operand, Operator, Param, Shape
from converter.pnnx.names import describe, operand_numbers, operator_names
from converter.pnnx.value import format_value, parse_value

MAGIC = "7767517"
NAME = re.compile(r"[^\W\d]\w*(\.\w+)*")
"""What params and arguments may be called."""

TENSOR = re.compile(r"\w+(\.\w+)*")
"""What attributes may be called: those of a kept nn.Sequential are numbered."""

_TYPE = re.compile(r"[\w.:]+")


class ParamError(ConvertError):
    """The text is not a well-formed `.pnnx.param`; the message names file and line."""


class NoData:
    """The values of a tensor whose `.pnnx.bin` was not read."""

    def chunks(self, limit: int) -> Iterator[memoryview]:
        raise self._error()

    def array(self) -> Array:
        raise self._error()

    @staticmethod
    def _error() -> ConvertError:
        return ConvertError("the tensor has no values", mend="read the .pnnx.bin too")


def write_param(graph: Graph, stream: TextIO) -> None:
    """Write a graph as text. Operands get numbers; symbolic dims become `?`.

    Raises UnsupportedError for what the format cannot hold (a string with a space, say).
    """
    numbers = operand_numbers(graph)
    names = operator_names(graph)
    stream.write(f"{MAGIC}\n{len(graph.operators)} {len(numbers)}\n")
    for op in graph.operators:
        _check_words(op)
        operands = [*op.inputs, *op.outputs]
        words = [f"{op.type:<24} {names[op]:<24} {len(op.inputs)} {len(op.outputs)}"]
        words += (str(numbers[operand]) for operand in operands)
        words += (f"{key}={_format_param(op, key)}" for key in sorted(op.params))
        words += (f"@{key}={_format_attribute(op.attrs[key])}" for key in sorted(op.attrs))
        words += (
            f"${name}={numbers[operand]}"
            for name, operand in zip(op.input_names, op.inputs, strict=False)
            if name
        )
        words += (
            f"#{numbers[operand]}={_format_shape(_checked(op, operand.shape), operand.dtype)}"
            for operand in operands
            if operand.shape is not None
        )
        stream.write(" ".join(words) + "\n")


def _check_words(op: Operator) -> None:
    keys = [key for key in (*op.params, *filter(None, op.input_names)) if not NAME.fullmatch(key)]
    for word in keys + [key for key in op.attrs if not TENSOR.fullmatch(key)]:
        raise _refuse(op, f"{word!r} cannot be the name of an argument")
    if not _TYPE.fullmatch(op.type):
        raise _refuse(op, f"{op.type!r} cannot be a type")


def _checked(op: Operator, shape: Shape) -> Shape:
    """A shape that is read again as it is."""
    for dim in shape:
        if isinstance(dim, int) and not _is_dim(str(dim)):
            raise _refuse(op, f"no tensor has a dim of {dim}")
    return shape


def _refuse(op: Operator, why: str) -> UnsupportedError:
    return UnsupportedError(f"cannot write {describe(op)} to a .param: {why}", where=op.where)


def _format_param(op: Operator, key: str) -> str:
    value = op.params[key]
    try:
        if key == "expr" and isinstance(value, str) and value.split() == [value]:
            return value
        return format_value(value)
    except ValueError as e:
        raise _refuse(op, f"its {key}: {e}") from None


def _format_shape(shape: Shape, dtype: str | None) -> str:
    dims = ",".join(str(dim) if isinstance(dim, int) else "?" for dim in shape)
    return f"({dims}){dtype or 'null'}"


def _format_attribute(attr: Attribute) -> str:
    return _format_shape(attr.shape, attr.dtype)


def read_param(text: str, path: str) -> Graph:
    """Read a graph; `path` is named in errors. Attributes get shapes and dtypes, but no values.

    Raises ParamError for malformed text.
    """
    lines = text.split("\n")
    reader = _Reader(path)
    if lines[0].strip() != MAGIC:
        raise reader.error(1, f"the first line is not {MAGIC}")
    counts = lines[1].split() if len(lines) > 1 else []
    if len(counts) != 2 or not all(map(_is_count, counts)):
        raise reader.error(2, "expected the numbers of operators and operands")
    for number, line in enumerate(lines[2:], start=3):
        if words := line.split():
            try:
                reader.operator(words)
            except ValueError as e:
                raise reader.error(number, str(e)) from None
    graph = reader.graph
    found = [str(len(graph.operators)), str(len(graph.operands))]
    if found != counts:
        told = " and ".join(counts)
        raise reader.error(
            2, f"{told} operators and operands expected, {' and '.join(found)} found"
        )
    return graph


class _Reader:
    def __init__(self, path: str) -> None:
        self.graph = Graph()
        self.path = path
        self._names: set[str] = set()

    def error(self, line: int, message: str) -> ParamError:
        return ParamError(f"{self.path}:{line}: {message}", mend="write the file again with pnnx")

    def operator(self, words: list[str]) -> None:
        """Add one line's operator. Raises ValueError."""
        if len(words) < 4 or not all(map(_is_count, words[2:4])):
            raise ValueError("expected a type, a name and the numbers of inputs and outputs")
        type, name, ins, outs = words[0], words[1], int(words[2]), int(words[3])
        operands, keys = words[4 : 4 + ins + outs], words[4 + ins + outs :]
        if len(operands) < ins + outs:
            raise ValueError(f"{name} names {len(operands)} operands, not {ins + outs}")
        if name in self._names:
            raise ValueError(f"two operators are called {name}")
        self._names.add(name)
        inputs = [self._existing(operand) for operand in operands[:ins]]
        outputs = [self.graph.operand(operand) for operand in operands[ins:]]
        op = self.graph.add(type, name, inputs, outputs)
        for word in keys:
            self._key(op, word)

    def _existing(self, name: str) -> Operand:
        if name not in self.graph.operands:
            raise ValueError(f"operand {name} is read before it is written")
        return self.graph.operands[name]

    def _key(self, op: Operator, word: str) -> None:
        key, equals, value = word.partition("=")
        kind, bare = (key[0], key[1:]) if key[:1] in ("@", "$", "#") else ("", key)
        pattern = TENSOR if kind == "@" else NAME
        if not equals or (kind != "#" and not pattern.fullmatch(bare)):
            raise ValueError(f"{word!r} is not key=value")
        if kind == "@":
            op.attrs[_new(bare, op.attrs)] = _attribute(value)
        elif kind == "$":
            _name_input(op, bare, self._existing(value))
        elif kind == "#":
            operand = self._existing(bare)
            if operand not in op.inputs and operand not in op.outputs:
                raise ValueError(f"{op.name} has no operand {bare}")
            operand.shape, operand.dtype = _shape(value)
        else:
            op.params[_new(bare, op.params)] = _param(bare, value)


def _is_count(word: str) -> bool:
    return word.isascii() and word.isdigit() and len(word) < 10


def _new(key: str, taken: dict[str, Param] | dict[str, Attribute]) -> str:
    if key in taken:
        raise ValueError(f"{key} is given twice")
    return key


def _param(key: str, value: str) -> Param:
    return value if key == "expr" else parse_value(value)


def _name_input(op: Operator, name: str, operand: Operand) -> None:
    names = op.input_names or [""] * len(op.inputs)
    if name in names:
        raise ValueError(f"two inputs are called {name}")
    for place, candidate in enumerate(op.inputs):
        if candidate is operand and not names[place]:
            names[place] = name
            op.input_names = names
            return
    raise ValueError(f"{op.name} does not read operand {operand.name} as {name}")


_SHAPE = re.compile(r"\(([\d,?]*)\)(\w+)")


def _shape(text: str) -> tuple[tuple[Dim, ...], str | None]:
    match = _SHAPE.fullmatch(text)
    dims = match[1].split(",") if match and match[1] else []
    if match is None or not all(dim == "?" or _is_dim(dim) for dim in dims):
        raise ValueError(f"{text!r} is not a shape and a dtype")
    if match[2] not in DTYPES and match[2] != "null":
        raise ValueError(f"{match[2]!r} is not a dtype")
    shape = tuple(dim if dim == "?" else int(dim) for dim in dims)
    return shape, match[2] if match[2] in DTYPES else None


def _is_dim(word: str) -> bool:
    return word.isascii() and word.isdigit() and len(word) < 19


def _attribute(text: str) -> Attribute:
    shape, dtype = _shape(text)
    sizes = tuple(dim for dim in shape if isinstance(dim, int))
    if dtype is None or len(sizes) < len(shape):
        raise ValueError(f"{text!r} is not an attribute's shape and dtype")
    return Attribute(dtype, sizes, NoData())
