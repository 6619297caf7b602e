"""Drop results that nobody reads, where an operator can do without them."""

from __future__ import annotations

from converter.ir import Graph, Operator
from converter.passes.base import Pass

WITH_INDICES = tuple(f"F.{kind}max_pool{dims}d" for kind in ("", "adaptive_") for dims in (1, 2, 3))
LAST_ONES = ("nn.LSTM", "nn.GRU", "nn.RNN", "nn.MultiheadAttention", "torch.max", "torch.min")
"""Operators that are read as `y, _ = …` where only their first result matters."""


class UnreadOutputs(Pass):
    """Before: `F.max_pool2d x -> y i` and nobody reads i. After: `F.max_pool2d x -> y`."""

    def run(self, graph: Graph) -> int:
        return sum(drop(graph, op) for op in graph.of_type(*WITH_INDICES, *LAST_ONES))


def drop(graph: Graph, op: Operator) -> bool:
    if len(op.outputs) == 1 or any(operand.consumers for operand in op.outputs[1:]):
        return False
    for operand in op.outputs[1:]:
        operand.producer = None
        del graph.operands[operand.name]
    del op.outputs[1:]
    if "return_indices" in op.params:
        op.params["return_indices"] = False
    return True
