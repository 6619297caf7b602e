"""Write sums of which torch scales one part as expressions."""

from __future__ import annotations

from typing import ClassVar

from converter.ir import Graph, Operator, Param
from converter.passes.base import Pass
from converter.passes.formula import Function, Place, Tree, text

SUMS = {"torch.add": "add", "torch.sub": "sub", "torch.rsub": "sub"}


class ScaledSum(Pass):
    """Before: `torch.add x y -> z alpha=2`. After: `pnnx.Expression x y -> z
    expr=add(@0,mul(@1,2))`.

    torch rounds the product and the sum at once, an expression each of them. Numbers are multiplied
    here. torch computes both in the dtype of the result: what is scaled must have it already.
    """

    changes_arithmetic: ClassVar[bool] = True

    def run(self, graph: Graph) -> int:
        found = [
            op for op in graph.of_type(*SUMS) if "alpha" in op.params and scales_results_dtype(op)
        ]
        for op in found:
            spell(graph, op)
        return len(found)


def scales_results_dtype(op: Operator) -> bool:
    """Else `other * 2` could overflow or round where torch does not."""
    dtype = op.outputs[0].dtype
    scaled = "input" if op.type == "torch.rsub" else "other"
    if scaled in op.input_names:
        return dtype is not None and op.input(scaled).dtype == dtype
    return dtype in ("f32", "f64")


def spell(graph: Graph, op: Operator) -> None:
    """`input ± alpha * other`, or `other - alpha * input` of rsub."""
    named = dict(zip(op.input_names, op.inputs, strict=True))
    order = ("other", "input") if op.type == "torch.rsub" else ("input", "other")
    tensors = [name for name in order if name in named]
    first, second = (
        Place(tensors.index(name)) if name in named else op.params[name] for name in order
    )
    expr = text(Function(SUMS[op.type], (first, times(second, op.params["alpha"]))))
    op.type, op.params = "pnnx.Expression", {"expr": expr}
    graph.set_inputs(op, [named[name] for name in tensors])


def times(tree: Tree, alpha: Param) -> Tree:
    if isinstance(tree, int | float) and isinstance(alpha, int | float):
        return tree * alpha
    return Function("mul", (tree, alpha))
