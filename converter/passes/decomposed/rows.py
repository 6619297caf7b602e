"""Linear layers and products with matrices, which decompositions give rows of all other dims."""

from __future__ import annotations

from typing import ClassVar

from converter.ir import Graph, Operand, Operator
from converter.passes.adjacent import permutation
from converter.passes.base import Pass
from converter.passes.decomposed.base import Decomposed
from converter.passes.pattern import Match
from converter.passes.terms import static_shape

JOINS = ("Tensor.reshape", "torch.unsqueeze")
SPLITS = ("Tensor.reshape", "torch.squeeze")


class RowsJoined(Pass):
    """Before: `Tensor.reshape x -> a`, `F.linear a w -> b`, `Tensor.reshape b -> y`.

    After: `F.linear x w -> y`, of as many dims as x; likewise `torch.matmul`. Where the elements of
    x do not lie in order, PyTorch multiplies in another way.
    """

    changes_arithmetic: ClassVar[bool] = True

    def run(self, graph: Graph) -> int:
        return sum(unwrap(graph, op) for op in graph.of_type("F.linear", "torch.matmul"))


def unwrap(graph: Graph, op: Operator) -> bool:
    join, split = op.inputs[0].producer, only_reader(op.outputs[0])
    if op.origin not in ("linear", "matmul") or join is None or split is None:
        return False
    if join.type not in JOINS or split.type not in SPLITS:
        return False
    result = split.outputs[0]
    source, flat, joined = map(static_shape, (join.inputs[0], op.inputs[0], result))
    if source is None or flat is None or joined is None or len(flat) != 2:
        return False
    rows = joined if len(op.outputs[0].shape or ()) == 1 else joined[:-1]
    if source[:-1] != rows or source[-1] != flat[-1]:
        return False
    graph.set_inputs(op, [join.inputs[0], *op.inputs[1:]], op.input_names)
    op.outputs[0].shape = joined
    graph.replace_uses(result, op.outputs[0])
    graph.remove(split)
    if not join.outputs[0].consumers:
        graph.remove(join)
    return True


def only_reader(operand: Operand) -> Operator | None:
    return operand.consumers[0] if len(operand.consumers) == 1 else None


class LinearWithBias(Decomposed):
    """Before: `F.linear x w -> a`, to which a bias is added. After: `F.linear x w b`."""

    def rewrite(self, graph: Graph, match: Match) -> bool:
        weight, bias = match.operands["weight"], match.operands["bias"]
        return bias.shape == (weight.shape or ())[:1] and super().rewrite(graph, match)


class LinearOfProduct(Decomposed):
    """Before: `torch.matmul x w.T`, to which a bias is added. After: `F.linear x w b`.

    So decompositions leave it where the elements of x do not lie in order.
    """

    def rewrite(self, graph: Graph, match: Match) -> bool:
        weight, bias = match.operands["weight"], match.operands.get("bias")
        if permutation(match["t"]) != [1, 0] or (bias and bias.shape != (weight.shape or ())[:1]):
            return False
        return super().rewrite(graph, match)


TRANSPOSED = """
    Tensor.permute  t      1 1 weight a
"""
BIASED = """
    torch.matmul    matmul 2 1 input a b
    pnnx.Expression last   2 1 b bias out expr=add(@0,@1)
"""
UNBIASED = """
    torch.matmul    last   2 1 input a out
"""
ADDED = """
    F.linear        linear 2 1 input weight a bias=None
    pnnx.Expression last   2 1 a bias out expr=add(@0,@1)
"""
LINEAR_WITH_BIAS = LinearWithBias("linear", "F.linear", ADDED, ("input", "weight", "bias"))
LINEAR = (
    LinearOfProduct(
        "linear", "F.linear", TRANSPOSED.rstrip() + BIASED, ("input", "weight", "bias")
    ),
    LinearOfProduct(
        "linear", "F.linear", TRANSPOSED.rstrip() + UNBIASED, ("input", "weight"), bias=None
    ),
)
