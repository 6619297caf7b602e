"""How many operations a graph takes, and how many elements it reads and writes, as pnnx counts.

The rules were learned from what the released program (20261020) says of graphs of one operator. An
operator of which a size is not known counts nothing, and so does one that was kept as it is.
"""

from __future__ import annotations

from typing import NamedTuple

from converter.ir import Graph, Operand
from converter.statistics.memory import memory
from converter.statistics.operations import operations
from converter.statistics.sizes import is_known


class Statistics(NamedTuple):
    """`inputs` are the shapes of the inputs, `?` for a dynamic dim; `memory` counts elements."""

    inputs: str
    operations: int
    memory: int

    def lines(self) -> list[str]:
        """As pnnx prints them."""
        return [
            f"model inputshape = {self.inputs}",
            f"FLOPS = {human(self.operations)}",
            f"memory OPS = {human(self.memory)}",
        ]


def statistics(graph: Graph) -> Statistics:
    """Count the operations and the elements that a graph of PyTorch-level operators takes."""
    counted = [op for op in graph.operators if is_known(op) and not op.opaque]
    inputs = (op.outputs[0] for op in graph.of_type("pnnx.Input"))
    return Statistics(
        ",".join(map(shape, inputs)),
        sum(map(operations, counted)),
        sum(map(memory, counted)),
    )


def shape(operand: Operand) -> str:
    dims = (str(dim) if isinstance(dim, int) else "?" for dim in operand.shape or ())
    return f"[{','.join(dims)}]{operand.dtype or ''}"


def human(number: int) -> str:
    """`94.176K`: in thousands, three digits after the point at most."""
    value, unit = float(number), ""
    for larger in "KMGTPE":
        if value < 1000:
            break
        value, unit = value / 1000, larger
    return f"{value:.3f}".rstrip("0").rstrip(".") + unit
