"""Views, joins and splits: what moves elements without changing them."""

from __future__ import annotations

from converter.aten.call import Call
from converter.aten.emit import Emitter
from converter.aten.registry import lowers, same
from converter.ir import Operand

same("adjoint.default", "torch.adjoint")
same("chunk.default", "torch.chunk")
same("clone.default", "torch.clone", drop=("memory_format",))
same("diag.default", "torch.diag")
same("diagonal.default", "torch.diagonal")
same("expand_as.default", "Tensor.expand_as")
same("flatten.using_ints", "torch.flatten")
same("flip.default", "torch.flip")
same(["movedim.int", "movedim.intlist"], "torch.movedim")
same("narrow.default", "torch.narrow")
same("permute.default", "Tensor.permute")
same(["reshape_as.default", "view_as.default"], "Tensor.reshape_as")
same("repeat.default", "Tensor.repeat", names={"repeats": "sizes"})
same("repeat_interleave.self_int", "torch.repeat_interleave", drop=("output_size",))
same("repeat_interleave.self_Tensor", "torch.repeat_interleave", drop=("output_size",))
same("rot90.default", "torch.rot90")
same("squeeze.default", "torch.squeeze")
same(["squeeze.dim", "squeeze.dims"], "torch.squeeze")
same("t.default", "torch.t")
same("tile.default", "torch.tile")
same("transpose.int", "torch.transpose")
same("tril.default", "torch.tril")
same("triu.default", "torch.triu")
same("unsqueeze.default", "torch.unsqueeze")
same(["view_as_complex.default"], "torch.view_as_complex")
same(["view_as_real.default"], "torch.view_as_real")
same(["view_as_complex_copy.default"], "torch.view_as_complex")


@lowers("roll.default")
def roll(call: Call, emit: Emitter) -> None:
    dims = call.integers("dims")
    emit.op(
        "torch.roll",
        call.output,
        input=call.tensor("self"),
        shifts=call.integers("shifts"),
        dims=dims or None,
    )


@lowers(
    "view.default",
    "reshape.default",
    "_unsafe_view.default",
    "view_copy.default",
)
def reshape(call: Call, emit: Emitter) -> None:
    """Sizes are known by now, `-1` included."""
    emit.op(
        "Tensor.reshape", call.output, input=call.tensor("self"), shape=sizes(call, call.output)
    )


@lowers("unflatten.int")
def unflatten(call: Call, emit: Emitter) -> None:
    emit.op(
        "Tensor.unflatten",
        call.output,
        input=call.tensor("self"),
        dim=call.integer("dim"),
        sizes=call.integers("sizes"),
    )


@lowers("expand.default", "expand_copy.default", "broadcast_to.default")
def expand(call: Call, emit: Emitter) -> None:
    emit.op("Tensor.expand", call.output, input=call.tensor("self"), sizes=call.integers("size"))


def sizes(call: Call, operand: Operand) -> tuple[int, ...]:
    shape = operand.shape
    if shape is None:
        raise call.refuse("the result's shape is unknown")
    return tuple(dim for dim in shape if isinstance(dim, int))


@lowers("swapaxes.default", "swapdims.default")
def swapaxes(call: Call, emit: Emitter) -> None:
    dim0, dim1 = (call.args[name] for name in list(call.args)[1:3])
    emit.op("torch.transpose", call.output, input=call.tensor("self"), dim0=dim0, dim1=dim1)


@lowers("numpy_T.default", "mT.default", "matrix_H.default")
def transposed(call: Call, emit: Emitter) -> None:
    source = call.tensor("self")
    rank = len(source.shape or ())
    if "numpy_T" in call.target:
        emit.op("Tensor.permute", call.output, input=source, dims=tuple(reversed(range(rank))))
    elif "matrix_H" in call.target and source.dtype in ("c64", "c128"):
        emit.op("torch.adjoint", call.output, input=source)
    else:
        emit.op("torch.transpose", call.output, input=source, dim0=-2, dim1=-1)


@lowers("cat.default", "concat.default", "concatenate.default")
def cat(call: Call, emit: Emitter) -> None:
    emit.positional("torch.cat", call.output, call.tensors("tensors"), dim=call.integer("dim"))


@lowers("stack.default")
def stack(call: Call, emit: Emitter) -> None:
    emit.positional("torch.stack", call.output, call.tensors("tensors"), dim=call.integer("dim"))


@lowers("split.Tensor", "split.sizes", "split_with_sizes.default", "unsafe_split.Tensor")
def split(call: Call, emit: Emitter) -> None:
    source, pieces, dim = list(call.args.values())[:3]
    assert isinstance(dim, int)
    emit.op("torch.split", call.outputs, tensor=source, split_size_or_sections=pieces, dim=dim)


same("unbind.int", "torch.unbind")
same("tensor_split.sections", "torch.tensor_split")
same("tensor_split.indices", "torch.tensor_split")
