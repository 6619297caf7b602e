"""Products of tensors of many dims, which decompositions make of products of matrices."""

from __future__ import annotations

from math import prod

from converter.ir import Graph, Operand, Operator
from converter.passes.base import Pass
from converter.passes.terms import static_shape

ORIGINS = ("linear", "matmul", "scaled_dot_product_attention")


class BatchedMatmul(Pass):
    """Before: `Tensor.expand x -> a`, `Tensor.reshape a -> b`, the same for z to c,
    `torch.bmm b c -> d`, `Tensor.reshape d -> y`. After: `torch.matmul x z -> y`, which does that.
    """

    def run(self, graph: Graph) -> int:
        return sum(to_matmul(graph, op) for op in graph.of_type("torch.bmm"))


def to_matmul(graph: Graph, op: Operator) -> bool:
    split = op.outputs[0].consumers[0] if len(op.outputs[0].consumers) == 1 else None
    if op.origin not in ORIGINS or split is None or split.type != "Tensor.reshape":
        return False
    shape = static_shape(split.outputs[0])
    if shape is None or len(shape) < 3:
        return False
    batch = shape[:-2]
    sources = [batched(operand, batch) for operand in op.inputs]
    given = [source for source in sources if source is not None]
    if len(given) < 2 or shape[-2:] != (given[0].shape or ())[-2:-1] + (given[1].shape or ())[-1:]:
        return False
    result = split.outputs[0]
    graph.set_inputs(op, given, ["input", "other"])
    op.type = "torch.matmul"
    op.outputs[0].shape = shape
    graph.replace_uses(result, op.outputs[0])
    graph.remove(split)
    return True


def batched(operand: Operand, batch: tuple[int, ...]) -> Operand | None:
    """The tensor of matrices whose batch dims were spread to these, and joined, for a bmm."""
    join = operand.producer
    if join is None or join.type != "Tensor.reshape":
        return None
    spread = join.inputs[0].producer
    if spread is None or spread.type != "Tensor.expand":
        return None
    wide, flat, source = map(static_shape, (spread.outputs[0], operand, spread.inputs[0]))
    if wide is None or flat is None or source is None or len(source) < 2:
        return None
    fits = wide[:-2] == batch and flat == (prod(batch), *wide[-2:]) and source[-2:] == wide[-2:]
    return spread.inputs[0] if fits else None
