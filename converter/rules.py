"""Which rules a conversion went through: lowerings and passes, by the file and name of each.

A rule's name tells where it stands, so that a changed line leads to what went through it, and does
not change when lines above it do: `aten/pooling.py:max_pool2d_with_indices` for a function or a
class, `aten/pooling.py:avg_pool2d.default` for a row of a table.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_recorded: ContextVar[set[str] | None] = ContextVar("recorded", default=None)


@contextmanager
def recorded() -> Iterator[set[str]]:
    """Collect the rules that conversions go through meanwhile, also one that ends in a refusal."""
    rules: set[str] = set()
    token = _recorded.set(rules)
    try:
        yield rules
    finally:
        _recorded.reset(token)


def went_through(rule: str) -> None:
    rules = _recorded.get()
    if rules is not None:
        rules.add(rule)


def named(module: str, name: str) -> str:
    """Name the rule of a module."""
    return f"{module.removeprefix('converter.').replace('.', '/')}.py:{name}"


def of_function(function: Callable[..., Any], row: str, rowmaker: str) -> str:
    """Name a registered function; one that was made for a row of a table bears the row's name.

    The row stands where `rowmaker`, the module of what makes rows, was called from.
    """
    if "<locals>" not in function.__qualname__:
        return named(function.__module__, function.__name__)
    if function.__module__ != rowmaker:
        return named(function.__module__, row)
    return named(caller(rowmaker), row)


def caller(module: str) -> str:
    """The module that called into this one."""
    frame = sys._getframe(1)
    while frame.f_back and frame.f_globals["__name__"] in (module, __name__):
        frame = frame.f_back
    return str(frame.f_globals["__name__"])
