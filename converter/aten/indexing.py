"""Reading and writing parts of tensors."""

from __future__ import annotations

from converter.aten.call import Call
from converter.aten.emit import Emitter
from converter.aten.registry import lowers, same
from converter.ir import Operand

END = 2**31 - 1
"""How pnnx writes "to the end"."""

same("gather.default", "torch.gather", drop=("sparse_grad",))
same("index_select.default", "torch.index_select")
same("masked_select.default", "torch.masked_select")
same(["masked_fill.Scalar", "masked_fill.Tensor"], "Tensor.masked_fill")
same(["scatter.src", "scatter.value", "scatter.reduce", "scatter.value_reduce"], "torch.scatter")
same("scatter_add.default", "torch.scatter_add")
same("scatter_reduce.two", "torch.scatter_reduce")
same(["index_fill.int_Scalar", "index_fill.int_Tensor"], "torch.index_fill")
same("index_add.default", "torch.index_add")
same("index_copy.default", "torch.index_copy")
same(["select.int", "select_copy.int"], "Tensor.select")
same("select_scatter.default", "torch.select_scatter")
same("take_along_dim.default", "torch.take_along_dim")
same(["one_hot.default"], "F.one_hot")
same(["bucketize.Tensor"], "torch.bucketize")


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


def bounds(call: Call) -> tuple[int, int]:
    """The start and end of a slice; an absent end, or one past any size, is pnnx's END."""
    start, end = call.args["start"], call.args["end"]
    first = 0 if start is None else call.integer("start")
    last = END if end is None else min(call.integer("end"), END)
    if first >= END:
        # pnnx has no word for it: nothing of the dim is left.
        first = last = call.sizes(call.tensor("self"))[call.integer("dim")]
    return first, last


@lowers("slice.Tensor", "slice_copy.Tensor")
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


@lowers("slice_scatter.default")
def slice_scatter(call: Call, emit: Emitter) -> None:
    start, end = bounds(call)
    emit.op(
        "torch.slice_scatter",
        call.output,
        input=call.tensor("self"),
        src=call.tensor("src"),
        dim=call.integer("dim"),
        start=start,
        end=end,
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
        values=call.tensor("values"),
        accumulate=call.flag("accumulate"),
    )
