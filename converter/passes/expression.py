"""Join element-wise expressions into one `pnnx.Expression`, as pnnx does."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from converter.ir import Graph, Operand, Operator
from converter.passes.base import Pass

TYPE = "pnnx.Expression"
OPERAND = re.compile(r"@(\d+)")
LIMIT = 4096
"""Characters of an expression; longer ones stay in parts, so that work is bounded."""


class FoldExpressions(Pass):
    """Fold an expression into the only expression that reads it, if that reads it once.

    Before: `a = mul(@0,2)`, `b = sub(@0,1)` of a. After: `b = sub(mul(@0,2),1)`.
    """

    def run(self, graph: Graph) -> int:
        expressions = graph.of_type(TYPE)
        sizes = {op: len(text(op)) for op in expressions}
        folded: dict[Operand, Operator] = {}
        for op in expressions:
            reader = only_reader(op)
            if reader is not None and sizes[op] + sizes[reader] <= LIMIT:
                sizes[reader] += sizes[op]
                folded[op.outputs[0]] = op
        for op in expressions:
            if op.outputs[0] not in folded and not folded.keys().isdisjoint(op.inputs):
                expand(graph, op, folded)
        if folded:
            graph.remove_all(folded.values())
        return len(folded)


def text(op: Operator) -> str:
    expr = op.params["expr"]
    assert isinstance(expr, str)
    return expr


def only_reader(op: Operator) -> Operator | None:
    """The expression that alone reads an expression of tensors, in one place; None for others."""
    (output,) = op.outputs
    if len(output.consumers) != 1 or output.dtype is None:
        return None
    (reader,) = output.consumers
    if reader.type != TYPE:
        return None
    place = str(reader.inputs.index(output))
    return reader if OPERAND.findall(text(reader)).count(place) == 1 else None


def expand(graph: Graph, op: Operator, folded: Mapping[Operand, Operator]) -> None:
    """Write folded expressions out in the place of their results."""
    numbers: dict[Operand, int] = {}
    parts: list[str] = []
    todo = [pieces(op)]
    while todo:
        for piece in todo[-1]:
            if isinstance(piece, str):
                parts.append(piece)
            elif piece in folded:
                todo.append(pieces(folded[piece]))
                break
            else:
                parts.append(f"@{numbers.setdefault(piece, len(numbers))}")
        else:
            todo.pop()
    op.params["expr"] = "".join(parts)
    graph.set_inputs(op, list(numbers))


def pieces(op: Operator) -> Iterator[str | Operand]:
    """An expression's text, cut where it names operands."""
    for place, piece in enumerate(OPERAND.split(text(op))):
        yield op.inputs[int(piece)] if place % 2 else piece
