"""Recognize what `run_decompositions()` takes apart, so that both kinds of programs look alike."""

from __future__ import annotations

from typing import ClassVar

from converter.ir import Graph, Operand, Operator
from converter.passes.adjacent import permutation
from converter.passes.base import Pass

TRANSPOSES = ("Tensor.permute", "torch.t", "torch.transpose")


class Linear(Pass):
    """Before: `Tensor.permute w -> t dims=(1,0)`, `torch.addmm b x t -> y`.

    After: `F.linear x w b -> y`, which calls the same addmm; without a bias, mm.
    """

    def run(self, graph: Graph) -> int:
        return sum(to_linear(graph, op) for op in graph.of_type("torch.addmm", "torch.mm"))


def to_linear(graph: Graph, op: Operator) -> bool:
    weight = transposed(op.inputs[-1])
    if weight is None:
        return False
    inputs, names = [op.inputs[-2], weight], ["input", "weight"]
    if op.type == "torch.addmm":
        bias = op.input("input")
        if bias.shape != (weight.shape or ())[:1] or op.params != {"alpha": 1, "beta": 1}:
            return False
        inputs.append(bias)
        names.append("bias")
    op.type, op.params = "F.linear", {} if "bias" in names else {"bias": None}
    graph.set_inputs(op, inputs, names)
    return True


def transposed(operand: Operand) -> Operand | None:
    """The matrix of which this is the transpose; None where it is not known to be one."""
    op = operand.producer
    if op is None or op.type not in TRANSPOSES or len(operand.shape or ()) != 2:
        return None
    return op.inputs[0] if op.type == "torch.t" or permutation(op) == [1, 0] else None


class BatchedLinear(Pass):
    """Before: `Tensor.reshape x -> a`, `nn.Linear a -> c`, `Tensor.reshape c -> y`.

    After: `nn.Linear x -> y`, of as many dims as x. Where the elements of x do not lie in order,
    PyTorch multiplies in another way.
    """

    changes_arithmetic: ClassVar[bool] = True

    def run(self, graph: Graph) -> int:
        return sum(unflatten(graph, op) for op in graph.of_type("F.linear", "nn.Linear"))


def unflatten(graph: Graph, op: Operator) -> bool:
    join, split = op.inputs[0].producer, only_reader(op.outputs[0])
    if join is None or split is None or {join.type, split.type} != {"Tensor.reshape"}:
        return False
    source, result = join.inputs[0], split.outputs[0]
    if source.shape is None or result.shape is None or len(source.shape) < 3:
        return False
    flat = join.outputs[0].shape
    if source.shape[:-1] != result.shape[:-1] or flat is None or flat[-1] != source.shape[-1]:
        return False
    if len(flat) != 2:
        return False
    graph.set_inputs(op, [source, *op.inputs[1:]], op.input_names)
    op.outputs[0].shape = result.shape
    graph.replace_uses(result, op.outputs[0])
    graph.remove(split)
    if not join.outputs[0].consumers:
        graph.remove(join)
    return True


def only_reader(operand: Operand) -> Operator | None:
    return operand.consumers[0] if len(operand.consumers) == 1 else None
