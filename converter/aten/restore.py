"""Take back what `run_decompositions()` only says in other words: `permute(x, [1, 0])` for `t(x)`.

The file tells of which call a node was made. That is believed only as far as it can be proven: the
call that is restored computes what the node does, whatever the file says. So it chooses between
spellings of one thing, and pnnx's graph is the one of the program before.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from converter.aten.call import Arg, Call
from converter.aten.convolution import spread
from converter.aten.expr import Expr
from converter.ir import Operand

Restore = Callable[[Call], dict[str, Arg] | None]
"""The arguments of the call that was before; None where it was another one."""

ROWS: dict[tuple[str, str], tuple[str, Restore]] = {}
"""By what is left, and of what: what takes its place."""

COPIES = frozenset({"aten.clone.default"})
"""What copies where the model says so. Decompositions copy for their own reasons, too."""


def restored(call: Call) -> Call:
    """The call that a call of a decomposed program was, where it is the same one."""
    if call.origin is None:
        return call
    if call.target in COPIES:
        return uncopied(call)
    if is_laid_as_before(call):
        given = {"self": call.args["self"]}
        return msgspec.structs.replace(call, target="aten.alias.default", args=given)
    target, restore = ROWS.get((call.target, call.origin), (call.target, None))
    arguments = restore(call) if restore is not None else None
    return (
        call if arguments is None else msgspec.structs.replace(call, target=target, args=arguments)
    )


def uncopied(call: Call) -> Call:
    """What is left of a copy that nobody needs: how it lies in memory, where that is told."""
    given = {"self": call.args["self"]}
    format = call.args.get("memory_format")
    if format in (None, "torch.preserve_format"):
        return msgspec.structs.replace(call, target="aten.alias.default", args=given)
    given["memory_format"] = format
    return msgspec.structs.replace(call, target="aten.contiguous.default", args=given)


def is_laid_as_before(call: Call) -> bool:
    """Whether it tells a layout in memory that the tensor has: dims of one element have any."""
    if call.target != "aten.as_strided.default" or call.args["storage_offset"] not in (None, 0):
        return False
    source, known = call.tensor("self"), call.strides.get("self")
    if known is None or tuple(sizes(source) or ()) != call.args["size"]:
        return False
    asked = call.integers("stride")
    if not len(known) == len(asked) == len(source.shape or ()):
        return False
    steps = zip(source.shape or (), known, asked, strict=True)
    return all(size == 1 or old == new for size, old, new in steps)


def restores(before: str, *left: str, by: str = "") -> Callable[[Restore], Restore]:
    """Register the decorated function for what these targets were before; `by` takes their place
    where that is another one than `before`.
    """

    def decorate(restore: Restore) -> Restore:
        for target in left:
            ROWS[f"aten.{target}", f"aten.{before}"] = f"aten.{by or before}", restore
        return restore

    return decorate


RESHAPES = ("view.default", "reshape.default", "_unsafe_view.default")


def sizes(operand: Operand) -> list[int] | None:
    """The shape, None where it is not known."""
    found = [size for size in operand.shape or () if isinstance(size, int)]
    return found if operand.shape is not None and len(found) == len(operand.shape) else None


# --- the same arguments


for name in ("and", "or", "xor"):
    for overload in ("Tensor", "Scalar"):
        restores(f"__{name}__.{overload}", f"bitwise_{name}.{overload}")(lambda call: call.args)


@restores("relu6.default", "hardtanh.default")
def relu6(call: Call) -> dict[str, Arg] | None:
    limits = (call.args["min_val"], call.args["max_val"])
    return {"self": call.args["self"]} if limits == (0, 6) else None


@restores("tile.default", "repeat.default")
def tile(call: Call) -> dict[str, Arg] | None:
    return {"self": call.args["self"], "dims": call.args["repeats"]}


@restores("max.other", "maximum.default")
@restores("min.other", "minimum.default")
def extreme(call: Call) -> dict[str, Arg] | None:
    return call.args


@restores("square.default", "pow.Tensor_Scalar")
def square(call: Call) -> dict[str, Arg] | None:
    return {"self": call.args["self"]} if call.args["exponent"] == 2 else None


@restores("squeeze.default", "squeeze.dims")
def squeeze(call: Call) -> dict[str, Arg] | None:
    source = call.tensor("self")
    shape = sizes(source)
    if not shape:
        return None
    ones = [dim for dim, size in enumerate(shape) if size == 1]
    taken = {dim % len(shape) for dim in call.integers("dim")}
    return {"self": source} if taken.issuperset(ones) else None


@restores("squeeze.dim", "squeeze.dims")
def squeeze_dim(call: Call) -> dict[str, Arg] | None:
    dims = call.integers("dim")
    return {"self": call.args["self"], "dim": dims[0]} if len(dims) == 1 else None


@restores("diag.default", "diagonal.default")
def diag(call: Call) -> dict[str, Arg] | None:
    """Of a matrix; that of a vector is made of other operators."""
    source = call.tensor("self")
    if call.rank(source) != 2 or (call.integer("dim1") % 2, call.integer("dim2") % 2) != (0, 1):
        return None
    return {"self": source, "diagonal": call.args["offset"]}


# --- permutations


@restores("t.default", "permute.default")
def t(call: Call) -> dict[str, Arg] | None:
    return {"self": call.args["self"]} if order(call) in ([0], [1, 0]) else None


@restores("swapaxes.default", "permute.default", by="transpose.int")
@restores("transpose.int", "permute.default")
def transpose(call: Call) -> dict[str, Arg] | None:
    found = order(call)
    moved = [dim for dim, source in enumerate(found) if dim != source]
    if len(moved) != 2:
        return None
    return {"self": call.args["self"], "dim0": moved[0], "dim1": moved[1]}


def order(call: Call) -> list[int]:
    rank = call.rank(call.tensor("self"))
    return [dim % rank for dim in call.integers("dims")]


# --- changes of shape


@restores("flatten.using_ints", *RESHAPES)
def flatten(call: Call) -> dict[str, Arg] | None:
    """The dims that are joined: those that the two shapes do not share at their ends."""
    before, after = sizes(call.tensor("self")), sizes(call.output)
    if before is None or not after or len(before) <= len(after):
        return None
    start = 0
    while before[start] == after[start] and start < len(after) - 1:
        start += 1
    end = len(before) - (len(after) - start)
    if before[end + 1 :] != after[start + 1 :]:
        return None
    return {"self": call.args["self"], "start_dim": start, "end_dim": end}


@restores("narrow.default", "slice.Tensor")
def narrow(call: Call) -> dict[str, Arg] | None:
    source, dim = call.tensor("self"), call.integer("dim")
    before, after = sizes(source), sizes(call.output)
    start = call.args["start"]
    if before is None or after is None or call.args["step"] != 1 or not isinstance(start, int):
        return None
    if not -len(before) <= dim < len(before):
        return None
    if start < 0 or start + after[dim] > before[dim]:
        return None
    return {"self": source, "dim": dim, "start": start, "length": after[dim]}


# --- splits


def pieces_of(call: Call) -> tuple[int, ...] | None:
    """The sizes of the pieces, None where one is dynamic, or there is none."""
    pieces = call.args["split_sizes"]
    dynamic = isinstance(pieces, tuple) and any(isinstance(piece, Expr) for piece in pieces)
    return None if dynamic else call.integers("split_sizes") or None


@restores("chunk.default", "split_with_sizes.default")
def chunk(call: Call) -> dict[str, Arg] | None:
    """torch.chunk gives pieces of one size, the last of what is left."""
    pieces = pieces_of(call)
    if pieces is None:
        return None
    whole, count = sum(pieces), len(pieces)
    size = -(-whole // count)
    if not size:
        return None
    if list(pieces) != [min(size, whole - start) for start in range(0, whole, size)]:
        return None
    return {"self": call.args["self"], "chunks": count, "dim": call.args["dim"]}


@restores("split.Tensor", "split_with_sizes.default")
def split(call: Call) -> dict[str, Arg] | None:
    pieces = pieces_of(call)
    if pieces is None:
        return None
    size = pieces[0]
    if any(piece != size for piece in pieces[:-1]) or pieces[-1] > size:
        return None
    return {"self": call.args["self"], "split_size": size, "dim": call.args["dim"]}


# --- pools that average everything


def pool_of_all(dims: int, before: int) -> None:
    """One over one dim is decomposed to one over two."""
    pool_name = f"adaptive_avg_pool{dims}d.default"

    @restores(f"adaptive_avg_pool{before}d.default", "mean.dim", by=pool_name)
    def pool(call: Call) -> dict[str, Arg] | None:
        rank = call.rank(call.tensor("self"))
        if rank < dims:
            return None
        averaged = sorted(dim % rank for dim in call.integers("dim"))
        last = list(range(rank - dims, rank))
        if averaged != last or not call.flag("keepdim") or call.args["dtype"] is not None:
            return None
        return {"self": call.args["self"], "output_size": (1,) * dims}


for dims, before in ((2, 1), (2, 2), (3, 3)):
    pool_of_all(dims, before)


# --- products of matrices


@restores("matmul.default", "mm.default")
def matmul(call: Call) -> dict[str, Arg] | None:
    return {"self": call.args["self"], "other": call.args["mat2"]}


# --- convolutions


for dims in (1, 2, 3):

    @restores(f"conv{dims}d.padding", "convolution.default")
    def padded(call: Call, dims: int = dims) -> dict[str, Arg] | None:
        """As much padding as keeps the size of the input is `same`, none is `valid`."""
        args = dict(call.args)
        if args.pop("transposed") or any(call.integers("output_padding")):
            return None
        del args["output_padding"]
        kernel = (sizes(call.tensor("weight")) or [])[2:]
        padding, dilation, stride = (
            spread(call.integers(name), dims) for name in ("padding", "dilation", "stride")
        )
        if not len(kernel) == len(padding) == len(dilation) == dims:
            return None
        total = [width * (size - 1) for width, size in zip(dilation, kernel, strict=True)]
        same = stride == (1,) * dims
        if any(padding) and (not same or [2 * one for one in padding] != total):
            return None
        return {**args, "padding": "same" if any(padding) else "valid"}
