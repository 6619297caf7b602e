"""Views, joins and splits: what moves elements without changing them."""

from __future__ import annotations

from converter.aten.call import Arg, Call
from converter.aten.conjugates import TRANSPOSING, is_complex, resolved
from converter.aten.emit import Emitter
from converter.aten.registry import joins, lowers, overloads, same

PLAIN = (
    "adjoint chunk diag diag_embed diagflat diagonal diagonal_scatter fliplr flip "
    "flipud narrow ravel rot90 squeeze t take tile tril triu unsqueeze vander view_as_complex"
)
for target in overloads(PLAIN):
    same(target, f"torch.{target.split('.')[0]}")

OVERLOADS = {
    "dsplit": "int array",
    "hsplit": "int array",
    "movedim": "int intlist",
    "squeeze": "dim dims",
    "tensor_split": "sections indices",
    "transpose": "int",
    "unbind": "int",
    "vsplit": "int array",
}
for name, suffixes in OVERLOADS.items():
    same(overloads(name, *suffixes.split()), f"torch.{name}")

same("expand_as.default", "Tensor.expand_as")
same("flatten.using_ints", "torch.flatten")
same("permute.default", "Tensor.permute")
same(overloads("reshape_as view_as"), "Tensor.reshape_as")
same("repeat.default", "Tensor.repeat", names={"repeats": "sizes"})
same(
    overloads("repeat_interleave", "self_int", "self_Tensor", "Tensor"),
    "torch.repeat_interleave",
    drop=("output_size",),
)
same("unfold.default", "Tensor.unfold")

for name in ("atleast_1d", "atleast_2d", "atleast_3d"):
    same(f"{name}.default", f"torch.{name}")
    joins(f"{name}.Sequence", f"torch.{name}")

LISTS = (
    "block_diag broadcast_tensors cartesian_prod cat column_stack dstack hstack meshgrid stack "
    "vstack"
)
for target in overloads(LISTS):
    joins(target, f"torch.{target.split('.')[0]}")
joins("meshgrid.indexing", "torch.meshgrid")


@lowers("view_as_real.default")
def view_as_real(call: Call, emit: Emitter) -> None:
    emit.op("torch.view_as_real", call.output, input=resolved(call, emit, call.tensor("self")))


@lowers("clone.default")
def clone(call: Call, emit: Emitter) -> None:
    given = call.args["memory_format"]
    layout = {} if given is None else {"memory_format": call.string("memory_format")}
    emit.op("torch.clone", call.output, input=call.tensor("self"), **layout)


@lowers("roll.default")
def roll(call: Call, emit: Emitter) -> None:
    dims, shifts = call.integers("dims"), call.args["shifts"]
    if not isinstance(shifts, tuple) or len(shifts) != len(dims or (0,)):
        raise call.refuse(f"its shifts are {shifts!r}, not one for each of its dims")
    emit.op(
        "torch.roll",
        call.output,
        input=call.tensor("self"),
        shifts=shifts,
        dims=dims or None,
    )


@lowers(
    "view.default",
    "reshape.default",
    "_unsafe_view.default",
)
def reshape(call: Call, emit: Emitter) -> None:
    """Sizes are known by now, but for dynamic ones."""
    emit.op("Tensor.reshape", call.output, input=call.tensor("self"), shape=new_shape(call))


def new_shape(call: Call) -> Arg:
    """The result's shape; one dynamic dim is left to PyTorch, of several all but a given -1 are
    worked out.
    """
    shape, given = call.output.shape, list(call.args.values())[1]
    assert shape is not None
    assert isinstance(given, tuple)
    if len(given) != len(shape):
        raise call.refuse(f"its result has {len(shape)} dims, not {len(given)}")
    if 0 not in shape and sum(isinstance(dim, str) for dim in shape) == 1:
        return tuple(-1 if isinstance(dim, str) else dim for dim in shape)
    pairs = zip(shape, given, strict=True)
    return tuple(dim if isinstance(dim, int) else one for dim, one in pairs)


@lowers("unflatten.int")
def unflatten(call: Call, emit: Emitter) -> None:
    emit.op(
        "Tensor.unflatten",
        call.output,
        input=call.tensor("self"),
        dim=call.integer("dim"),
        sizes=call.args["sizes"],
    )


@lowers("expand.default", "broadcast_to.default")
def expand(call: Call, emit: Emitter) -> None:
    emit.op("Tensor.expand", call.output, input=call.tensor("self"), sizes=call.args["size"])


@lowers("swapaxes.default")
def swapaxes(call: Call, emit: Emitter) -> None:
    dim0, dim1 = (call.args[name] for name in list(call.args)[1:3])
    emit.op("torch.transpose", call.output, input=call.tensor("self"), dim0=dim0, dim1=dim1)


@lowers("numpy_T.default", "mT.default", "mH.default", "matrix_H.default")
def transposed(call: Call, emit: Emitter) -> None:
    source = call.tensor("self")
    name = call.target.split(".")[1]
    conjugates = name in TRANSPOSING and is_complex(source)
    if not call.rank(source) and conjugates:
        emit.op("torch.conj", call.output, input=source)
    elif not call.rank(source):
        emit.alias(call.output, source)
    elif name == "numpy_T":
        dims = tuple(reversed(range(call.rank(source))))
        emit.op("Tensor.permute", call.output, input=source, dims=dims)
    elif conjugates:
        emit.op("torch.adjoint", call.output, input=source)
    else:
        emit.op("torch.transpose", call.output, input=source, dim0=-2, dim1=-1)


@lowers("split.Tensor", "split.sizes", "split_with_sizes.default")
def split(call: Call, emit: Emitter) -> None:
    source, pieces, dim = list(call.args.values())[:3]
    assert isinstance(dim, int)
    emit.op("torch.split", call.outputs, tensor=source, split_size_or_sections=pieces, dim=dim)


@lowers("tensor_split.tensor_indices_or_sections")
def tensor_split(call: Call, emit: Emitter) -> None:
    """Where it splits is a stored tensor: a number of sections, or the indices."""
    source, stored = call.tensor("self"), call.tensor("tensor_indices_or_sections").stored
    if stored is None:
        raise call.refuse("where it splits depends on the values of tensors", "give it a list")
    places = stored.array().tolist()
    where = {"sections": places} if isinstance(places, int) else {"indices": tuple(places)}
    emit.op("torch.tensor_split", call.outputs, input=source, dim=call.integer("dim"), **where)
