"""What shapes results have, told before they are worked out.

Of operators that make more elements than they take: others move, compare or convert those that are
there. A file that says another shape than this is not believed, and nothing is made of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from converter.errors import UnsupportedError
from converter.ir import Graph, Operator, Param
from converter.passes.terms import static_shape

Shape = tuple[int, ...]
Shapes = Mapping[str, Shape]

SHAPES: dict[str, Callable[[Operator, Shapes], Shape]] = {}
"""By type: the shape of the result, by those of the inputs. Raises ValueError, IndexError or
KeyError for inputs that do not go together."""


def has_shape(*types: str) -> Callable[[Callable[[Operator, Shapes], Shape]], None]:
    def decorate(rule: Callable[[Operator, Shapes], Shape]) -> None:
        SHAPES.update(dict.fromkeys(types, rule))

    return decorate


def ints(value: Param) -> list[int]:
    items = value if isinstance(value, tuple) else (value,)
    found = [item for item in items if isinstance(item, int)]
    if len(found) < len(items):
        raise ValueError(f"{value!r} is not a list of ints")
    return found


@has_shape(
    *("pnnx.Expression", "torch.where", "Tensor.masked_fill"),
    *("torch.eq", "torch.ge", "torch.gt", "torch.le", "torch.lt", "torch.ne"),
    *("torch.logical_and", "torch.logical_or", "torch.logical_xor"),
    *("torch.bitwise_and", "torch.bitwise_or", "torch.bitwise_xor"),
)
def broadcast(op: Operator, shapes: Shapes) -> Shape:
    return np.broadcast_shapes(*shapes.values())


@has_shape("Tensor.repeat")
def repeat(op: Operator, shapes: Shapes) -> Shape:
    (shape,) = shapes.values()
    counts = ints(op.params["sizes"])
    return tuple(
        count * size
        for count, size in zip(counts, (1,) * (len(counts) - len(shape)) + shape, strict=True)
    )


@has_shape("torch.cat")
def cat(op: Operator, shapes: Shapes) -> Shape:
    first, *_ = shapes.values()
    (dim,) = ints(op.params["dim"])
    joined = list(first)
    joined[dim] = sum(shape[dim] for shape in shapes.values())
    return tuple(joined)


@has_shape("torch.stack")
def stack(op: Operator, shapes: Shapes) -> Shape:
    first, *_ = shapes.values()
    (dim,) = ints(op.params["dim"])
    place = dim % (len(first) + 1)
    return (*first[:place], len(shapes), *first[place:])


@has_shape("F.pad")
def pad(op: Operator, shapes: Shapes) -> Shape:
    (shape,) = shapes.values()
    amounts, padded = ints(op.params["pad"]), list(shape)
    for place in range(0, len(amounts), 2):
        padded[-1 - place // 2] += amounts[place] + amounts[place + 1]
    return tuple(padded)


@has_shape("torch.index_select")
def index_select(op: Operator, shapes: Shapes) -> Shape:
    shape, (dim,) = shapes["input"], ints(op.params["dim"])
    place = dim % len(shape)
    return (*shape[:place], *(shapes["index"] or (1,)), *shape[place + 1 :])


@has_shape("F.embedding")
def embedding(op: Operator, shapes: Shapes) -> Shape:
    return (*shapes["input"], *shapes["weight"][1:])


@has_shape("torch.gather")
def gather(op: Operator, shapes: Shapes) -> Shape:
    return shapes["index"]


@has_shape("torch.outer")
def outer(op: Operator, shapes: Shapes) -> Shape:
    one, other = shapes.values()
    return (*one, *other)


@has_shape("F.one_hot")
def one_hot(op: Operator, shapes: Shapes) -> Shape:
    """The number of classes may depend on the values."""
    (shape,) = shapes.values()
    return (*shape, *(int(dim) for dim in (op.outputs[0].shape or ())[-1:]))


def check_shapes(graph: Graph) -> None:
    """Check what the file says of all results, where the sizes are known. Raises
    UnsupportedError.
    """
    for op in graph.of_type(*SHAPES):
        inputs = [static_shape(operand) for operand in op.inputs]
        known = [shape for shape in inputs if shape is not None]
        if len(known) == len(inputs) and inputs and static_shape(op.outputs[0]) is not None:
            check_shape(op, known)


def check_shape(op: Operator, inputs: Sequence[Shape]) -> None:
    """Check what the file says of a result. Raises UnsupportedError."""
    rule = SHAPES.get(op.type)
    if rule is None:
        return
    names = dict(enumerate(op.input_names))
    named = {names.get(place) or str(place): shape for place, shape in enumerate(inputs)}
    try:
        shape = rule(op, named)
    except (ValueError, IndexError, KeyError):
        raise contradicted(op, None) from None
    if shape != op.outputs[0].shape:
        raise contradicted(op, shape)


def contradicted(op: Operator, shape: Shape | None) -> UnsupportedError:
    told = ",".join(map(str, op.outputs[0].shape or ()))
    makes = (
        "takes tensors that do not go together"
        if shape is None
        else f"makes the shape ({','.join(map(str, shape))})"
    )
    return UnsupportedError(
        f"{op.type} {op.name} {makes}, and the file says ({told})",
        where=op.where,
        mend="export the model again",
    )
