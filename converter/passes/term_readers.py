"""What operators compute, in terms: one reader per operator."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import accumulate

from converter.ir import Graph, Operator, Param
from converter.passes.adjacent import permutation
from converter.passes.formula import Function, Place, Tree, parse
from converter.passes.layout import LayoutError
from converter.passes.terms import Sizes, Terms, View, static_shape


def read_graph(
    graph: Graph, wanted: Callable[[Operator], bool], sizes: Sizes = static_shape
) -> Terms:
    """Read the operators that are wanted; the others' outputs are operands of their own."""
    terms = Terms(sizes)
    for op in graph.operators:
        if wanted(op):
            read(terms, op)
    return terms


def read(terms: Terms, op: Operator) -> None:
    """Work out what an operator's outputs hold, from what its inputs hold."""
    operands = op.inputs[:1] if op.type in SIZED else op.inputs
    views = [terms.view(operand) for operand in operands]
    inputs = [view for view in views if view is not None]
    outputs = [terms.sizes(operand) for operand in op.outputs]
    if len(inputs) < len(views) or None in outputs or op.type not in READERS:
        return
    try:
        results = READERS[op.type](terms, op, inputs)
    except LayoutError:
        return
    for operand, shape, view in zip(op.outputs, outputs, results, strict=True):
        if view is not None and view.shape == shape:
            terms.hold(operand, view)


Reader = Callable[[Terms, Operator, list[View]], Sequence[View | None]]

READERS: dict[str, Reader] = {}
"""By type: what an operator's outputs hold. Whatever is not here is an operand by itself."""

SIZED = frozenset({"Tensor.expand", "Tensor.reshape"})
"""What more these take are the sizes of their outputs, which are known of those."""

UNKNOWN = (None,)
"""What a reader makes of an operator with one output that it does not follow."""


def reads(*types: str) -> Callable[[Reader], Reader]:
    def decorate(reader: Reader) -> Reader:
        READERS.update(dict.fromkeys(types, reader))
        return reader

    return decorate


def output_shape(terms: Terms, op: Operator, place: int = 0) -> tuple[int, ...]:
    shape = terms.sizes(op.outputs[place])
    assert shape is not None
    return shape


def wrapped(dim: Param, view: View) -> int:
    assert isinstance(dim, int)
    return dim % max(len(view.shape), 1)


@reads(
    "Tensor.contiguous",
    "Tensor.reshape",
    "Tensor.unflatten",
    "torch.flatten",
    "torch.squeeze",
    "torch.unsqueeze",
    "torch.clone",
)
def reshape(terms: Terms, op: Operator, inputs: list[View]) -> Sequence[View | None]:
    return [inputs[0].reshape(*output_shape(terms, op))]


@reads("Tensor.permute", "torch.transpose")
def permute(terms: Terms, op: Operator, inputs: list[View]) -> Sequence[View | None]:
    order = permutation(op)
    assert order is not None
    return [inputs[0].permute(*order)]


@reads("Tensor.select")
def select(terms: Terms, op: Operator, inputs: list[View]) -> Sequence[View | None]:
    dim, index = wrapped(op.params["dim"], inputs[0]), op.params["index"]
    assert isinstance(index, int)
    return [inputs[0].select(dim, index % inputs[0].shape[dim])]


@reads("torch.unbind")
def unbind(terms: Terms, op: Operator, inputs: list[View]) -> Sequence[View | None]:
    dim = wrapped(op.params["dim"], inputs[0])
    return [inputs[0].select(dim, index) for index in range(len(op.outputs))]


@reads("torch.chunk", "torch.split", "torch.tensor_split")
def split(terms: Terms, op: Operator, inputs: list[View]) -> Sequence[View | None]:
    dim = wrapped(op.params["dim"], inputs[0])
    lengths = [output_shape(terms, op, place)[dim] for place in range(len(op.outputs))]
    starts = [0, *accumulate(lengths)]
    return [
        inputs[0].narrow(dim, start, length) for start, length in zip(starts, lengths, strict=False)
    ]


@reads("Tensor.expand", "Tensor.expand_as", "Tensor.repeat")
def expand(terms: Terms, op: Operator, inputs: list[View]) -> Sequence[View | None]:
    """Repeating elements side by side is the same as expanding where a dim has one element."""
    shape = output_shape(terms, op)
    before = (*(1,) * (len(shape) - len(inputs[0].shape)), *inputs[0].shape)
    if any(old not in (1, new) for old, new in zip(before, shape, strict=True)):
        return UNKNOWN
    return [inputs[0].expand(*shape)]


@reads("F.linear")
def linear(terms: Terms, op: Operator, inputs: list[View]) -> Sequence[View | None]:
    named = dict(zip(op.input_names, inputs, strict=True))
    return [terms.linear(named["input"], named["weight"], named.get("bias"))]


@reads("nn.Linear")
def linear_module(terms: Terms, op: Operator, inputs: list[View]) -> Sequence[View | None]:
    """Each of them is a term of its own, whatever its weights are."""
    result = terms.apply("nn.Linear", output_shape(terms, op), inputs, op.name)
    return [terms.made_by(result, op)]


@reads("torch.matmul")
def matmul(terms: Terms, op: Operator, inputs: list[View]) -> Sequence[View | None]:
    """Of matrices with equal batch dims."""
    one, other = inputs
    if len(one.shape) < 3 or one.shape[:-2] != other.shape[:-2]:
        return UNKNOWN
    batch = math.prod(one.shape[:-2])
    left, right = (view.reshape(batch, *view.shape[-2:]) for view in inputs)
    return [terms.bmm(left, right).reshape(*output_shape(terms, op))]


@reads("torch.addmm")
def addmm(terms: Terms, op: Operator, inputs: list[View]) -> Sequence[View | None]:
    """With a bias of one dim, a linear function of rows by a transposed weight."""
    named = dict(zip(op.input_names, inputs, strict=True))
    if len(named["input"].shape) != 1 or not is_plain(op):
        return UNKNOWN
    return [terms.linear(named["mat1"], named["mat2"].permute(1, 0), named["input"])]


@reads("torch.bmm")
def bmm(terms: Terms, op: Operator, inputs: list[View]) -> Sequence[View | None]:
    return [terms.bmm(*inputs)]


@reads("torch.baddbmm")
def baddbmm(terms: Terms, op: Operator, inputs: list[View]) -> Sequence[View | None]:
    if not is_plain(op):
        return UNKNOWN
    return [terms.add(inputs[0], terms.bmm(*inputs[1:]))]


def is_plain(op: Operator) -> bool:
    """Whether neither term of a sum is scaled."""
    return op.params["alpha"] == 1 and op.params["beta"] == 1


@reads("pnnx.Expression")
def arithmetic(terms: Terms, op: Operator, inputs: list[View]) -> Sequence[View | None]:
    """Sums of tensors, and products of them with numbers."""

    def work_out(tree: Tree) -> View:
        match tree:
            case Place(number=number):
                return inputs[number]
            case Function(name="add", arguments=(one, other)):
                return terms.add(work_out(one), work_out(other))
            case Function(name="mul", arguments=(one, int() | float() as number)):
                return terms.multiply(work_out(one), float(number))
            case Function(name="mul", arguments=(int() | float() as number, one)):
                return terms.multiply(work_out(one), float(number))
        raise LayoutError

    return [work_out(parse(op))]


@reads("F.softmax")
def softmax(terms: Terms, op: Operator, inputs: list[View]) -> Sequence[View | None]:
    """Dims count from the last one, where softmax mostly is."""
    shape = inputs[0].shape
    return [
        terms.apply("softmax", shape, inputs, wrapped(op.params["dim"], inputs[0]) - len(shape))
    ]


@reads("torch.mean")
def mean(terms: Terms, op: Operator, inputs: list[View]) -> Sequence[View | None]:
    dims = op.params.get("dim")
    if not isinstance(dims, tuple):
        return UNKNOWN
    averaged = sorted(wrapped(dim, inputs[0]) for dim in dims)
    return [terms.apply("mean", output_shape(terms, op), inputs, *averaged)]


@reads("torch.cat")
def cat(terms: Terms, op: Operator, inputs: list[View]) -> Sequence[View | None]:
    filled = [terms.stored_number(view) for view in inputs]
    parts = [
        view if number is None else terms.fill(number, view.shape)
        for view, number in zip(inputs, filled, strict=True)
    ]
    return [
        terms.apply("cat", output_shape(terms, op), parts, wrapped(op.params["dim"], inputs[0]))
    ]


@reads("F.pad")
def pad(terms: Terms, op: Operator, inputs: list[View]) -> Sequence[View | None]:
    if op.params["mode"] != "constant":
        return UNKNOWN
    value = op.params["value"] or 0
    return [terms.apply("pad", output_shape(terms, op), inputs, op.params["pad"], value)]


@reads("Tensor.masked_fill")
def masked_fill(terms: Terms, op: Operator, inputs: list[View]) -> Sequence[View | None]:
    """Into a tensor that one number fills."""
    filled, value = terms.stored_number(inputs[0]), op.params.get("value")
    if len(inputs) != 2 or filled is None or not isinstance(value, int | float):
        return UNKNOWN
    return [terms.apply("choose", output_shape(terms, op), [inputs[1]], float(value), filled)]


@reads("torch.where")
def where(terms: Terms, op: Operator, inputs: list[View]) -> Sequence[View | None]:
    """Between two numbers."""
    if len(inputs) != 3:
        return UNKNOWN
    one, other = (terms.stored_number(view) for view in inputs[1:])
    if one is None or other is None:
        return UNKNOWN
    return [terms.apply("choose", output_shape(terms, op), inputs[:1], one, other)]


@reads("F.scaled_dot_product_attention")
def attention(terms: Terms, op: Operator, inputs: list[View]) -> Sequence[View | None]:
    params = op.params
    if params.get("enable_gqa") or params["dropout_p"] != 0:
        return UNKNOWN
    result = terms.apply(
        "attention", output_shape(terms, op), inputs, params["is_causal"], params.get("scale")
    )
    return [result]
