"""Remove operators whose results nobody reads."""

from __future__ import annotations

from converter.ir import Graph, Operator
from converter.passes.base import Pass

KEPT = frozenset({"pnnx.Input", "pnnx.Output"})


class DeadCode(Pass):
    """Before: `F.relu a -> b` with no reader of b. After: nothing; `a` loses a reader too."""

    def run(self, graph: Graph) -> int:
        live: set[Operator] = set()
        for op in reversed(graph.operators):
            if op.type in KEPT or any(c in live for out in op.outputs for c in out.consumers):
                live.add(op)
        dead = [op for op in graph.operators if op not in live]
        if dead:
            graph.remove_all(dead)
        return len(dead)
