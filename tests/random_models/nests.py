"""Tuples, lists and dicts of names, in each other, as forward takes and returns them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Pick = Callable[[Sequence[Any]], Any]

NESTS: Sequence[Callable[[list[Any]], Any]] = (
    tuple,
    list,
    lambda items: dict(zip("cabdefghijklmnopqrstuvwxyz", items, strict=False)),
)
"""Dicts keep the order in which they are written, which is not that of their keys."""

LEAVES = 26
"""A nest has no more: a dict has a letter for each."""


def nested(pick: Pick, items: Sequence[Any]) -> Any:
    """A nest of one to LEAVES items in their order, the last of them perhaps nested themselves."""
    leaves = list(items)
    if len(leaves) > 1 and pick((False, True)):
        cut = pick(range(1, len(leaves)))
        leaves[cut:] = [nested(pick, leaves[cut:])]
    return pick(NESTS)(leaves)


def spelled(nest: Any) -> str:
    """Python for a nest of texts."""
    if isinstance(nest, dict):
        return f"{{{', '.join(f'{key!r}: {spelled(item)}' for key, item in nest.items())}}}"
    if isinstance(nest, list):
        return f"[{', '.join(map(spelled, nest))}]"
    if isinstance(nest, tuple):
        return f"({', '.join(map(spelled, nest))}{',' * (len(nest) == 1)})"
    return str(nest)
