"""Reading and writing parts of tensors."""

from __future__ import annotations

from converter.aten.call import Arg, Call
from converter.aten.emit import Emitter
from converter.aten.expr import Expr, sizes_of
from converter.aten.registry import lowers, overloads, same
from converter.ir import Operand

END = 2**31 - 1
"""How pnnx writes "to the end"."""

PLAIN = (
    "index_add index_copy index_reduce index_select masked_scatter masked_select put "
    "scatter_add select_scatter take_along_dim"
)
for target in overloads(PLAIN):
    same(target, f"torch.{target.split('.')[0]}")

same(overloads("bucketize", "Tensor", "Scalar"), "torch.bucketize")
same(overloads("searchsorted", "Tensor", "Scalar"), "torch.searchsorted")
same("gather.default", "torch.gather", drop=("sparse_grad",))
same(overloads("index_fill", "int_Scalar", "int_Tensor"), "torch.index_fill")
same("one_hot.default", "F.one_hot")
same(overloads("scatter", "src", "value", "reduce", "value_reduce"), "torch.scatter")
same("scatter_reduce.two", "torch.scatter_reduce")
same("select.int", "Tensor.select")


@lowers("masked_fill.Scalar", "masked_fill.Tensor")
def masked_fill(call: Call, emit: Emitter) -> None:
    value = call.args["value"]
    if isinstance(value, Operand):
        value = stored_number(value)
    emit.op(
        "Tensor.masked_fill",
        call.output,
        input=call.tensor("self"),
        mask=call.tensor("mask"),
        value=value,
    )


def stored_number(operand: Operand) -> Arg:
    """The number that a stored tensor without dims holds; the operand itself if it is another.

    Numbers that are assigned (`x[0] = 1`) were made tensors by the Python side of PyTorch.
    """
    if operand.stored is None or operand.shape != ():
        return operand
    number: bool | int | float | complex = operand.stored.array().item()
    return number


@lowers("where.default", "nonzero_numpy.default")
def nonzero_by_dim(call: Call, emit: Emitter) -> None:
    """`torch.where(x)`: the columns of what `torch.nonzero` returns."""
    source = call.tensor(next(iter(call.args)))
    count = call.outputs[0].shape
    together = emit.temporary(None if count is None else (*count, call.rank(source)), "i64")
    emit.op("torch.nonzero", together, input=source)
    for place, output in enumerate(call.outputs):
        emit.op("Tensor.select", output, input=together, dim=1, index=place)


EMBEDDING_BAG_MODES = ("sum", "mean", "max")


@lowers(
    "embedding_bag.default",
    "embedding_bag.padding_idx",
    "_embedding_bag.default",
    "_embedding_bag_forward_only.default",
)
def embedding_bag(call: Call, emit: Emitter) -> None:
    for by_product in call.outputs[1:]:
        emit.unread(by_product)
    padding = call.args.get("padding_idx")
    emit.op(
        "F.embedding_bag",
        call.outputs[0],
        input=call.tensor("indices"),
        weight=call.tensor("weight"),
        offsets=call.tensor("offsets"),
        scale_grad_by_freq=call.flag("scale_grad_by_freq"),
        mode=EMBEDDING_BAG_MODES[call.integer("mode")],
        sparse=call.flag("sparse"),
        per_sample_weights=call.tensor_or_none("per_sample_weights"),
        include_last_offset=call.flag("include_last_offset"),
        padding_idx=None if padding == -1 and "_embedding" in call.target else padding,
    )


@lowers("embedding.default")
def embedding(call: Call, emit: Emitter) -> None:
    emit.op(
        "F.embedding",
        call.output,
        input=call.tensor("indices"),
        weight=call.tensor("weight"),
        scale_grad_by_freq=call.flag("scale_grad_by_freq"),
        sparse=call.flag("sparse"),
    )


def bounds(call: Call) -> tuple[int | Expr, int | Expr]:
    """The start and end of a slice; an absent end, or one past any size, is pnnx's END."""
    first, last = bound(call, "start", 0), bound(call, "end", END)
    if first == END:
        # pnnx has no word for it: nothing of the dim is left.
        first = last = sizes_of(call.tensor("self"))[call.integer("dim")]
    return first, last


def bound(call: Call, name: str, default: int) -> int | Expr:
    value = call.args[name]
    if isinstance(value, Expr):
        return value
    return default if value is None else min(call.integer(name), END)


@lowers("slice.Tensor")
def slice(call: Call, emit: Emitter) -> None:
    start, end = bounds(call)
    emit.op(
        "Tensor.slice",
        call.output,
        input=call.tensor("self"),
        dim=call.integer("dim"),
        start=start,
        end=end,
        step=call.integer("step"),
    )


@lowers("narrow.Tensor")
def narrow_from(call: Call, emit: Emitter) -> None:
    """Of a start that is a tensor: it must be a stored one."""
    start = stored_number(call.tensor("start"))
    if not isinstance(start, int):
        raise call.refuse("start is a tensor that the model computes", "start at an int")
    emit.op(
        "torch.narrow",
        call.output,
        input=call.tensor("self"),
        dim=call.integer("dim"),
        start=start,
        length=call.size("length"),
    )


@lowers("slice_scatter.default")
def slice_scatter(call: Call, emit: Emitter) -> None:
    start, end = bounds(call)
    emit.op(
        "torch.slice_scatter",
        call.output,
        input=call.tensor("self"),
        src=call.tensor("src"),
        dim=call.integer("dim"),
        start=None if call.args["start"] is None else start,
        end=None if call.args["end"] is None else end,
        step=call.integer("step"),
    )


def indices(call: Call, emit: Emitter) -> Operand:
    """A list of index tensors and Nones, as the expression `[None,@0]` that pnnx writes."""
    values = call.args["indices"]
    assert isinstance(values, tuple)
    tensors: list[Operand] = []
    items: list[str] = []
    for value in values:
        if value is None:
            items.append("None")
            continue
        assert isinstance(value, Operand)
        if value not in tensors:
            tensors.append(value)
        items.append(f"@{tensors.index(value)}")
    output = emit.temporary(None, None)
    emit.positional("pnnx.Expression", output, tensors, expr=f"[{','.join(items)}]")
    return output


@lowers("index.Tensor", "_unsafe_index.Tensor")
def index(call: Call, emit: Emitter) -> None:
    emit.op("Tensor.index", call.output, input=call.tensor("self"), expr=indices(call, emit))


@lowers("index_put.default", "_unsafe_index_put.default", "_index_put_impl.default")
def index_put(call: Call, emit: Emitter) -> None:
    emit.op(
        "Tensor.index_put",
        call.output,
        input=call.tensor("self"),
        indices=indices(call, emit),
        values=stored_number(call.tensor("values")),
        accumulate=call.flag("accumulate"),
    )
