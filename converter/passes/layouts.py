"""Leave out what only tells how a tensor lies in memory."""

from __future__ import annotations

from typing import ClassVar

from converter.ir import Graph
from converter.passes.base import Pass
from converter.passes.noops import bypass


class EliminateLayouts(Pass):
    """Before: `Tensor.contiguous x -> y`. After: readers of y read x.

    A kernel may add the same numbers in another order where they lie otherwise.
    """

    changes_arithmetic: ClassVar[bool] = True

    def run(self, graph: Graph) -> int:
        gone = [
            op
            for op in graph.of_type("Tensor.contiguous")
            if all(reader.type != "torch.as_strided" for reader in op.outputs[0].consumers)
        ]
        return bypass(graph, [(op, op.inputs[0]) for op in gone])
