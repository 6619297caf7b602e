"""The text of a `pnnx.Expression`, `add(mul(@0,2),@1)`, as a tree."""

from __future__ import annotations

from typing import NamedTuple

from converter.ir import Operator, Param
from converter.pnnx.value import format_value, parse_value, split_items


class Place(NamedTuple):
    """An input of the operator, `@1`."""

    number: int


class Function(NamedTuple):
    """A function of trees."""

    name: str
    arguments: tuple[Tree, ...]


class Items(NamedTuple):
    """A list of trees, `[1,size(@0,1)]`."""

    items: tuple[Tree, ...]


Tree = Place | Function | Items | Param


def parse(op: Operator) -> Tree:
    """The formula of an expression. Raises ValueError for text that is none."""
    text = op.params["expr"]
    return _parse(text) if isinstance(text, str) else text


def _parse(text: str) -> Tree:
    if text.startswith("@"):
        return Place(int(text[1:]))
    if text.startswith("[") and text.endswith("]"):
        return Items(tuple(map(_parse, split_items(text[1:-1]))))
    name, bracket, rest = text.partition("(")
    if not name or not bracket:
        return parse_value(text)
    if not rest.endswith(")"):
        raise ValueError(f"{text!r} is not a function")
    return Function(name, tuple(map(_parse, split_items(rest[:-1]))))


def text(tree: Tree) -> str:
    """The text of a tree."""
    if isinstance(tree, Place):
        return f"@{tree.number}"
    if isinstance(tree, Function):
        return f"{tree.name}({','.join(map(text, tree.arguments))})"
    if isinstance(tree, Items):
        return f"[{','.join(map(text, tree.items))}]"
    return format_value(tree)
