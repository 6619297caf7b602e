"""Leave out, or let go, how a tensor lies in memory."""

from __future__ import annotations

from typing import ClassVar

from converter.ir import Graph, Operand
from converter.passes.base import Pass
from converter.passes.noops import bypass

SUMS = frozenset(
    {
        "F.bilinear",
        "F.conv1d",
        "F.conv2d",
        "F.conv3d",
        "F.conv_transpose1d",
        "F.conv_transpose2d",
        "F.conv_transpose3d",
        "F.linear",
        "F.scaled_dot_product_attention",
        "torch.addmm",
        "torch.baddbmm",
        "torch.bmm",
        "torch.cdist",
        "torch.einsum",
        "torch.matmul",
        "torch.mm",
        "torch.mv",
        "torch.tensordot",
    }
)
"""Operators that add up products, in an order that follows from how their operands lie."""


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


class StoredLayouts(Pass):
    """Before: `pnnx.Attribute -> w`, `torch.matmul x w -> y`, where w's elements were not stored in
    the order of its dims. After: the same graph, in which they are.
    """

    changes_arithmetic: ClassVar[bool] = True

    def run(self, graph: Graph) -> int:
        return sum(settle(op.outputs[0]) for op in graph.of_type("pnnx.Attribute"))


def settle(stored: Operand) -> bool:
    """Take a stored tensor for one in the order of its dims; tell whether a sum may notice."""
    noticed = not stored.row_major and any(op.type in SUMS for op in stored.consumers)
    stored.row_major = True
    return noticed
