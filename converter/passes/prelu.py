"""Write a PReLU of one slope as the LeakyReLU that it is."""

from __future__ import annotations

from converter.ir import Graph, Operator
from converter.passes.base import Pass


class SingleSlope(Pass):
    """Before: `nn.PReLU num_parameters=1` with weight 0.25. After: `nn.LeakyReLU` of slope 0.25."""

    def run(self, graph: Graph) -> int:
        return sum(rewrite(op) for op in graph.of_type("nn.PReLU"))


def rewrite(op: Operator) -> bool:
    weight = op.attrs["weight"]
    if weight.size != 1 or weight.dtype not in ("f32", "f64"):
        return False
    op.type, op.params = "nn.LeakyReLU", {"negative_slope": float(weight.array().item())}
    op.attrs = {}
    return True
