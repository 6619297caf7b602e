"""Join element-wise expressions into one `pnnx.Expression`, as pnnx does."""

from __future__ import annotations

import re
from collections.abc import Callable

from converter.ir import Graph, Operand, Operator
from converter.passes.base import Pass

TYPE = "pnnx.Expression"


class FoldExpressions(Pass):
    """Fold an expression into the only expression that reads it, if that reads it once.

    Before: `a = mul(@0,2)`, `b = sub(@0,1)` of a. After: `b = sub(mul(@0,2),1)`.
    """

    def run(self, graph: Graph) -> int:
        folded = [op for op in graph.of_type(TYPE) if fold_into_reader(graph, op)]
        if folded:
            graph.remove_all(folded)
        return len(folded)


def fold_into_reader(graph: Graph, op: Operator) -> bool:
    """Put `op` into its reader and leave it without one; False where it is read several times."""
    (output,) = op.outputs
    if len(output.consumers) != 1:
        return False
    (reader,) = output.consumers
    if reader.type != TYPE or output.dtype is None:
        return False
    inputs: list[Operand] = []

    def place(operand: Operand) -> str:
        if operand not in inputs:
            inputs.append(operand)
        return f"@{inputs.index(operand)}"

    def inner(match: re.Match[str]) -> str:
        return place(op.inputs[int(match[1])])

    def outer(match: re.Match[str]) -> str:
        operand = reader.inputs[int(match[1])]
        return substitute(op, inner) if operand is output else place(operand)

    text = substitute(reader, outer)
    reader.params["expr"] = text
    graph.set_inputs(reader, inputs)
    return True


def substitute(op: Operator, replacement: Callable[[re.Match[str]], str]) -> str:
    text = op.params["expr"]
    assert isinstance(text, str)
    return re.sub(r"@(\d+)", replacement, text)
