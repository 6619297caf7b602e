"""Which axis of each tensor should be the batch of its blob.

Image layers want axis 0 there, recurrent ones 0 or 1. From those operators the wish spreads along
the operators around them, to the inputs of the network above all. Where it does not arrive, or
where two wishes meet, the lowering converts one layout to the other with a Reshape. So this decides
how few conversions there are, and how the network's inputs lie, and never what is computed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterator

from converter.ir import Graph, Operand, Operator
from converter.ncnn.blob import carried
from converter.ncnn.registry import RULES

RESHAPES = {
    "Tensor.reshape",
    "Tensor.reshape_as",
    "Tensor.unflatten",
    "Tensor.view",
    "nn.Flatten",
    "nn.Unflatten",
    "torch.flatten",
    "torch.squeeze",
    "torch.unflatten",
    "torch.unsqueeze",
}
PERMUTES = {"Tensor.permute", "torch.movedim", "torch.permute", "torch.t", "torch.transpose"}
MOVING = RESHAPES | PERMUTES


def wanted_axes(graph: Graph) -> dict[Operand, int]:
    """The wanted batch axis of each tensor that has one."""
    wanted: dict[Operand, int] = {}
    spread: set[Hashable] = set()
    queue: deque[tuple[Operand, int]] = deque()
    for op in graph.operators:
        rule = RULES.get(op.type)
        axis = rule.batch(op) if rule is not None and rule.batch is not None else None
        if axis is not None:
            queue.append((op.inputs[0], axis))
            queue.extend(_alike(op, op.inputs[0], axis))
    while queue:
        operand, axis = queue.popleft()
        if operand in wanted:
            continue
        wanted[operand] = axis
        for op in dict.fromkeys([*operand.consumers, *filter(None, [operand.producer])]):
            like = (op, axis, operand.shape)
            if op.type in MOVING or like not in spread:  # else all that are like it have the wish
                spread.add(like)
                queue.extend(_spread(op, operand, axis))
    return wanted


def _spread(op: Operator, operand: Operand, axis: int) -> Iterator[tuple[Operand, int]]:
    """The other operands of an operator, and their axis that is this one's `axis`."""
    if op.type in PERMUTES:
        yield from _permuted(op, operand, axis)
    elif op.type in RESHAPES:
        ends = (op.inputs[0], op.outputs[0])
        for other in ends:
            if operand in ends and other is not operand and operand.shape and other.shape:
                place = carried(operand.shape, axis, other.shape)
                if place is not None:
                    yield other, place
    elif not _mixes(op, axis, len(operand.shape or ())):
        yield from _alike(op, operand, axis)


def _alike(op: Operator, operand: Operand, axis: int) -> Iterator[tuple[Operand, int]]:
    """Operands of the same rank, with the same size at that axis."""
    shape = operand.shape or ()
    for other in (*op.inputs, *op.outputs):
        same = other.shape and len(other.shape) == len(shape) and other.shape[axis] == shape[axis]
        if other is not operand and same:
            yield other, axis


def _mixes(op: Operator, axis: int, rank: int) -> bool:
    """Whether a dim that the operator works along is this axis."""
    for name in ("dim", "dims"):
        value = op.params.get(name)
        for dim in value if isinstance(value, tuple) else (value,):
            if isinstance(dim, int) and rank and dim % rank == axis:
                return True
    return False


def _permuted(op: Operator, operand: Operand, axis: int) -> Iterator[tuple[Operand, int]]:
    order = permutation(op)
    if order is None:
        return
    if operand is op.inputs[0]:
        yield op.outputs[0], order.index(axis)
    else:
        yield op.inputs[0], order[axis]


def permutation(op: Operator) -> tuple[int, ...] | None:
    """The axes of the input in the order of the output's, or None if it cannot be told."""
    rank = len(op.inputs[0].shape or ())
    order = list(range(rank))
    if op.type == "torch.t":
        return tuple(reversed(order))
    if op.type == "torch.transpose":
        first, second = op.params.get("dim0"), op.params.get("dim1")
        if not isinstance(first, int) or not isinstance(second, int) or not rank:
            return None
        order[first], order[second] = order[second], order[first]
        return tuple(order)
    if op.type == "torch.movedim":
        return _moved(op, rank)
    dims = op.params.get("dims")
    if not isinstance(dims, tuple):
        return None
    axes = tuple(dim % rank for dim in dims if isinstance(dim, int) and rank)
    return axes if sorted(axes) == order else None


def _moved(op: Operator, rank: int) -> tuple[int, ...] | None:
    """The order of `torch.movedim`: the dims named lie in their places, the others as they did."""
    names = (op.params.get("source"), op.params.get("destination"))
    sources, places = (dims if isinstance(dims, tuple) else (dims,) for dims in names)
    moved = {
        place % rank: source % rank
        for source, place in zip(sources, places, strict=True)
        if isinstance(source, int) and isinstance(place, int) and rank
    }
    others = iter([dim for dim in range(rank) if dim not in moved.values()])
    return tuple(moved[dim] if dim in moved else next(others) for dim in range(rank))
