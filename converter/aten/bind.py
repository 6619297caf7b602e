"""Gives each argument of a node its value, by name and in schema order, defaults included."""

from __future__ import annotations

from collections.abc import Mapping

from converter.archive.program import Node
from converter.archive.values import Device, Layout, MemoryFormat, SymRef, TensorRef, Value
from converter.aten.schema_table import MISSING, OpSchema, Type
from converter.errors import UnsupportedError

ACCEPTED: Mapping[str, tuple[type, ...]] = {
    # A number may stand for a Tensor: `x + 2` is aten.add.Tensor(x, 2).
    "Tensor": (TensorRef, SymRef, bool, int, float, complex),
    "Scalar": (SymRef, bool, int, float, complex),
    "int": (SymRef, int),
    "float": (SymRef, float, int),
    "bool": (SymRef, bool),
    "complex": (SymRef, complex, float, int),
    "str": (str,),
    "ScalarType": (str,),
    "MemoryFormat": (MemoryFormat,),
    "Layout": (Layout,),
    "Device": (Device,),
    "Generator": (),
}
"""The values that fit an argument, by the base of its type."""


def bind(node: Node, schema: OpSchema) -> dict[str, Value]:
    """Return every argument of `schema` with the node's value, or else its default.

    Values take the type that the schema tells: an int for a `float` becomes a float, one int for an
    `int[2]` becomes a pair; a `Scalar` stays the int or float that was written, and a number passed
    for a `Tensor` stays a number. A dtype is pnnx's name (`f32`), a list is a tuple.

    Raises UnsupportedError, with the node's source line, for an argument that the schema does not
    have, one that is missing, and a value that does not fit its type.
    """
    given: dict[str, Value] = {}
    for name, value in node.inputs:
        if name in given:
            raise _error(node, f"argument {name} is given twice")
        given[name] = value
    bound: dict[str, Value] = {}
    for argument in schema.arguments:
        if argument.name in given:
            try:
                bound[argument.name] = _fit(given.pop(argument.name), argument.type)
            except TypeError as error:
                raise _error(node, f"argument {argument.name} {error}") from None
        elif argument.default is MISSING:
            raise _error(node, f"argument {argument.name} is missing")
        else:
            bound[argument.name] = argument.default
    if given:
        raise _error(node, f"unknown argument {next(iter(given))!r}")
    return bound


def _error(node: Node, message: str) -> UnsupportedError:
    return UnsupportedError(
        f"{node.target}: {message}", where=node.where, mend="export it with a supported torch"
    )


def _fit(value: Value, type: Type) -> Value:
    """Make a value of a type. Raises TypeError, whose text goes after the argument's name."""
    if value is None and type.optional:
        return None
    if not type.is_list:
        return _fit_one(value, type.base)
    if isinstance(value, tuple):
        return tuple(
            None if item is None and type.optional_elements else _fit_one(item, type.base)
            for item in value
        )
    return (_fit_one(value, type.base),) * (type.size or 1)


def _fit_one(value: Value, base: str) -> Value:
    if base == "bool" and isinstance(value, int):
        return bool(value)
    accepted = ACCEPTED[base]
    if not isinstance(value, accepted) or (base == "str" and type(value) is not str):
        raise TypeError(f"is {value!r}, which is no {base}")
    if isinstance(value, bool | int):
        if base == "int":
            return int(value)
        if base == "float":
            return float(value)
    return value
