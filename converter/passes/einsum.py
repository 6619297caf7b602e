"""Give einsum's labels the names that pnnx gives them, so that equal contractions look equal."""

from __future__ import annotations

import string
from collections.abc import Iterable

from converter.ir import Graph, Operator
from converter.passes.base import Pass

LABELS = string.ascii_lowercase[8:]


class CanonicalEinsum(Pass):
    """Before: `torch.einsum equation=bhid,dk->bhik`. After: `torch.einsum equation=ijkm,ml->ijkl`.

    The result's labels are i, j, k and so on, in order; those that are summed come after them. The
    result of a mere transposition is left out. An equation with an ellipsis, or with
    more labels than letters from i on, is left alone.
    """

    def run(self, graph: Graph) -> int:
        return sum(rename(op) for op in graph.of_type("torch.einsum"))


def rename(op: Operator) -> bool:
    equation = op.params["equation"]
    assert isinstance(equation, str)
    renamed = canonical(equation)
    op.params["equation"] = renamed
    return renamed != equation


def canonical(equation: str) -> str:
    equation = equation.replace(" ", "")
    operands, arrow, result = equation.partition("->")
    labels = set(operands) - {","}
    if "." in labels or len(labels) > len(LABELS):
        return equation
    if not arrow:
        # Labels are renamed in alphabetical order, by which einsum makes the result of them.
        return operands.translate(numbered(sorted(labels)))
    names = numbered(dict.fromkeys(result + operands.replace(",", "")))
    operands, result = operands.translate(names), result.translate(names)
    transposes = bool(result) and sorted(operands) == list(result)
    return operands if transposes else f"{operands}->{result}"


def numbered(labels: Iterable[str]) -> dict[int, str]:
    """A table for str.translate: the first label becomes i, the next j."""
    return str.maketrans(dict(zip(labels, LABELS, strict=False)))
