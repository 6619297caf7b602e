"""Convolutions of inputs without a batch, to which decompositions give one."""

from __future__ import annotations

from converter.ir import Graph, Operator
from converter.passes.base import Pass
from converter.passes.decomposed.wrapped import changed_after, changed_before, take_out

CONVOLUTIONS = tuple(f"F.conv{kind}{dims}d" for kind in ("", "_transpose") for dims in (1, 2, 3))


class UnbatchedConvolutions(Pass):
    """Before: `torch.unsqueeze x -> a dim=0`, `F.conv2d a w -> b`, `torch.squeeze b -> y dim=0`.

    After: `F.conv2d x w -> y`, which does just that.
    """

    def run(self, graph: Graph) -> int:
        return sum(unwrap(graph, op) for op in graph.of_type(*CONVOLUTIONS))


def unwrap(graph: Graph, op: Operator) -> bool:
    rank = len(op.outputs[0].shape or ())
    before = changed_before(op, "torch.unsqueeze", -rank)
    after = changed_after(op.outputs[0], "torch.squeeze", -rank)
    if before is None or after is None or op.origin is None or not op.origin.startswith("conv"):
        return False
    if before.origin != op.origin or after.origin != op.origin:
        return False
    take_out(graph, op, before, [after])
    return True
