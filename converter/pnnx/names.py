"""What operators and operands are called in the files.

Names come from the user's program and may hold anything. pnnx numbers operands in order and keeps
the names of operators, so the three files and ncnn's two agree with each other by these functions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from converter.ir import Graph, Operand, Operator

_NOT_IN_NAMES = re.compile(r"[^\w.:-]")


def operand_numbers(graph: Graph) -> dict[Operand, int]:
    """Number the operands in the order in which they are written."""
    outputs = (operand for op in graph.operators for operand in op.outputs)
    return {operand: number for number, operand in enumerate(outputs)}


def operator_names(graph: Graph) -> dict[Operator, str]:
    """Name the operators: one word each, fit for a zip entry, no two alike."""
    words = (_NOT_IN_NAMES.sub("_", op.name) or "_" for op in graph.operators)
    return dict(zip(graph.operators, unique(words, frozenset()), strict=True))


def describe(op: Operator) -> str:
    """Tell an operator's type and name on one line, for an error message."""
    text = f"{op.type} {op.name}"
    return text if text.isprintable() else ascii(text)


def words(text: str) -> frozenset[str]:
    """Split a table of names."""
    return frozenset(text.split())


def unique(names: Iterable[str], reserved: frozenset[str]) -> list[str]:
    """Append `_1`, `_2`… to names that are reserved or came before."""
    taken = set(reserved)
    made: list[str] = []
    serial: dict[str, int] = {}
    for name in names:
        candidate = name
        while candidate in taken:
            serial[name] = serial.get(name, 0) + 1
            candidate = f"{name}_{serial[name]}"
        taken.add(candidate)
        made.append(candidate)
    return made
