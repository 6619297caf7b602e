"""Gives each argument of a node its value, by name and in schema order, defaults included."""

from __future__ import annotations

from converter.archive.program import Node
from converter.archive.values import Value
from converter.aten.schema_table import OpSchema


def bind(node: Node, schema: OpSchema) -> dict[str, Value]:
    """Return every argument of `schema` with the node's value, or else its default.

    Values take the type that the schema tells: an int for a `float` argument becomes a float, one int
    for an `int[2]` becomes a pair; a `Scalar` stays the int or float that was written, and a number
    passed for a Tensor (`aten.add.Tensor(x, 2)`) stays a number.

    Raises UnsupportedError, with the node's source line, for an argument that the schema does not
    have, one that is missing, and a value that does not fit its type.
    """
    raise NotImplementedError
