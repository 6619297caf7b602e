"""Tensors that are taken apart or joined, which decompositions do with slices and one join."""

from __future__ import annotations

from converter.ir import Graph, Operand, Operator
from converter.passes.base import Pass
from converter.passes.decomposed.wrapped import is_change
from converter.passes.terms import static_shape


class Unbind(Pass):
    """Before: `Tensor.slice x -> a dim=1 start=2 end=3`, `torch.squeeze a -> y dim=1`.

    After: `Tensor.select x -> y dim=1 index=2`, of which a later pass makes a `torch.unbind`.
    """

    def run(self, graph: Graph) -> int:
        return sum(to_select(graph, op) for op in graph.of_type("torch.squeeze"))


def to_select(graph: Graph, op: Operator) -> bool:
    piece = op.inputs[0].producer
    if op.origin != "unbind" or piece is None or piece.type != "Tensor.slice":
        return False
    dim, start, shape = piece.params["dim"], piece.params["start"], static_shape(piece.inputs[0])
    if shape is None or not isinstance(dim, int) or not isinstance(start, int):
        return False
    if piece.params["end"] != start + 1 or start < 0 or not is_change(op, op.type, dim):
        return False
    op.type, op.params = "Tensor.select", {"dim": dim, "index": start}
    graph.set_inputs(op, piece.inputs, ["input"])
    return True


class Stack(Pass):
    """Before: `torch.cat x z -> a dim=0`, `Tensor.reshape a -> y`, or `torch.unsqueeze` of each and
    `torch.cat`. After: `torch.stack x z -> y dim=0`.
    """

    def run(self, graph: Graph) -> int:
        return sum(
            of_reshaped(graph, op) or of_unsqueezed(graph, op) for op in graph.of_type("torch.cat")
        )


def of_reshaped(graph: Graph, op: Operator) -> bool:
    """The tensors lie one after the other in the dim that a reshape then splits."""
    readers = op.outputs[0].consumers
    last = readers[0] if len(readers) == 1 else None
    if op.origin != "stack" or last is None or last.type != "Tensor.reshape":
        return False
    dim, result = op.params["dim"], static_shape(last.outputs[0])
    shapes = {static_shape(operand) for operand in op.inputs}
    shape = next(iter(shapes))
    if result is None or shape is None or len(shapes) > 1 or not isinstance(dim, int):
        return False
    dim %= len(shape)
    if result != (*shape[:dim], len(op.inputs), *shape[dim:]):
        return False
    stack(graph, last, op.inputs, dim)
    return True


def of_unsqueezed(graph: Graph, op: Operator) -> bool:
    dim, result = op.params["dim"], op.outputs[0].shape
    if op.origin != "stack" or result is None or not isinstance(dim, int):
        return False
    makers = [operand.producer for operand in op.inputs]
    sources = [
        maker.inputs[0]
        for maker in makers
        if maker is not None and is_change(maker, "torch.unsqueeze", dim % len(result))
    ]
    if len(sources) < len(makers):
        return False
    stack(graph, op, sources, dim % len(result))
    return True


def stack(graph: Graph, op: Operator, tensors: list[Operand], dim: int) -> None:
    op.type, op.params = "torch.stack", {"dim": dim}
    graph.set_inputs(op, list(tensors))
