"""The inverse of each view: what the whole becomes when one of its views holds other values."""

from __future__ import annotations

from collections.abc import Callable

from converter.aten.call import Call
from converter.aten.conjugates import TRANSPOSING, is_complex, resolved
from converter.aten.emit import Emitter
from converter.aten.expr import Expr, plus, sizes_of
from converter.aten.indexing import bounds
from converter.errors import UnsupportedError
from converter.ir import Operand

WriteBack = Callable[[Emitter, Call, int, Operand, Operand], Operand]
"""(emit, call of the view, which of its results, the whole, the new part) -> the new whole."""

WRITE_BACKS: dict[str, WriteBack] = {}
"""By ATen operator, whatever its overload: `select`."""


def write_back(emit: Emitter, call: Call, index: int, whole: Operand, part: Operand) -> Operand:
    """Return `whole` with `part` in the place that the view shows.

    Raises UnsupportedError for a view that shows an element twice or in another form.
    """
    inverse = WRITE_BACKS.get(call.target.split(".")[1])
    if inverse is None:
        raise not_written(call)
    emit.begin(call)
    return inverse(emit, call, index, whole, part)


def not_written(call: Call) -> UnsupportedError:
    return call.refuse("its result is written to in place", "write to a clone() instead")


def writes_back(*names: str) -> Callable[[WriteBack], WriteBack]:
    def decorate(inverse: WriteBack) -> WriteBack:
        for name in names:
            WRITE_BACKS[name] = inverse
        return inverse

    return decorate


@writes_back(
    *("alias", "contiguous", "detach", "lift_fresh", "positive", "resolve_conj", "resolve_neg"),
    *("to", "type_as", "cpu", "dropout", "alpha_dropout", "feature_dropout"),
    "feature_alpha_dropout",
)
def itself(emit: Emitter, call: Call, index: int, whole: Operand, part: Operand) -> Operand:
    return part


@writes_back("expand", "expand_as")
def unchanged(emit: Emitter, call: Call, index: int, whole: Operand, part: Operand) -> Operand:
    """Of the tensor itself only, not of an element that is repeated."""
    if (whole.shape, whole.dtype) != (part.shape, part.dtype):
        raise not_written(call)
    return part


@writes_back(
    *("view", "view_as", "_unsafe_view", "reshape", "reshape_as", "flatten", "ravel", "unflatten"),
    *("squeeze", "unsqueeze"),
)
def reshaped(emit: Emitter, call: Call, index: int, whole: Operand, part: Operand) -> Operand:
    if whole.dtype != part.dtype:
        raise not_written(call)
    result = emit.copy(whole)
    emit.op("Tensor.reshape", result, input=part, shape=sizes_of(whole))
    return result


@writes_back(
    *("permute", "transpose", "swapaxes", "swapdims", "movedim", "moveaxis", "t", "numpy_T", "mT"),
    *TRANSPOSING,
)
def permuted(emit: Emitter, call: Call, index: int, whole: Operand, part: Operand) -> Operand:
    if call.target.split(".")[1] in TRANSPOSING:
        part = conjugated(emit, call, index, whole, part)
    order = dim_order(call, call.rank(whole))
    result = emit.copy(whole)
    inverse = tuple(order.index(dim) for dim in range(len(order)))
    emit.op("Tensor.permute", result, input=part, dims=inverse)
    return result


def dim_order(call: Call, rank: int) -> list[int]:
    """Which dim of the whole each dim of a permuting view shows."""
    name = call.target.split(".")[1]
    dims = list(range(rank))
    if not dims:
        return dims
    if name == "permute":
        return [dim % rank for dim in call.integers("dims")]
    if name in ("t", "numpy_T"):
        return dims[::-1]
    arguments = list(call.args)[1:3]
    if name in ("movedim", "moveaxis"):
        sources, places = (call.integers(argument) for argument in arguments)
        moved = {place % rank: source % rank for source, place in zip(sources, places, strict=True)}
        others = iter([dim for dim in dims if dim not in moved.values()])
        return [moved[dim] if dim in moved else next(others) for dim in dims]
    one, other = (call.integer(argument) for argument in arguments) if arguments else (-2, -1)
    dims[one], dims[other] = dims[other], dims[one]
    return dims


@writes_back("select")
def selected(emit: Emitter, call: Call, index: int, whole: Operand, part: Operand) -> Operand:
    return select_copy(emit, whole, part, call.integer("dim"), call.size("index"))


@writes_back("unbind")
def unbound(emit: Emitter, call: Call, index: int, whole: Operand, part: Operand) -> Operand:
    return select_copy(emit, whole, part, call.integer("dim"), index)


@writes_back("slice")
def sliced(emit: Emitter, call: Call, index: int, whole: Operand, part: Operand) -> Operand:
    dim = call.integer("dim")
    start, end = bounds(call)
    return slice_copy(emit, whole, part, dim, start, end, call.integer("step"))


@writes_back("narrow")
def narrowed(emit: Emitter, call: Call, index: int, whole: Operand, part: Operand) -> Operand:
    dim, first, length = call.integer("dim"), call.size("start"), call.size("length")
    if isinstance(first, int) and first < 0:
        first = plus(sizes_of(whole)[dim], first)
    return slice_copy(emit, whole, part, dim, first, plus(first, length))


@writes_back(
    *("chunk", "split", "split_with_sizes", "tensor_split", "unsafe_chunk", "unsafe_split"),
    "unsafe_split_with_sizes",
)
def split(emit: Emitter, call: Call, index: int, whole: Operand, part: Operand) -> Operand:
    dim = call.integer("dim")
    start: int | Expr = 0
    for output in call.outputs[:index]:
        start = plus(start, sizes_of(output)[dim])
    return slice_copy(emit, whole, part, dim, start, plus(start, sizes_of(part)[dim]))


@writes_back("diagonal")
def diagonal(emit: Emitter, call: Call, index: int, whole: Operand, part: Operand) -> Operand:
    result = emit.copy(whole)
    emit.op(
        "torch.diagonal_scatter",
        result,
        input=whole,
        src=part,
        offset=call.integer("offset"),
        dim1=call.integer("dim1"),
        dim2=call.integer("dim2"),
    )
    return result


@writes_back("_conj", "conj")
def conjugated(emit: Emitter, call: Call, index: int, whole: Operand, part: Operand) -> Operand:
    if not is_complex(whole):
        return part
    result = emit.copy(part)
    emit.op("torch.conj", result, input=part)
    return result


@writes_back("_neg_view")
def negated(emit: Emitter, call: Call, index: int, whole: Operand, part: Operand) -> Operand:
    result = emit.copy(part)
    emit.op("torch.neg", result, input=part)
    return result


@writes_back("real", "imag")
def half(emit: Emitter, call: Call, index: int, whole: Operand, part: Operand) -> Operand:
    """With the other half as it was; a real tensor is all of its real part."""
    if not is_complex(whole):
        return part
    name = call.target.split(".")[1]
    other = emit.copy(part)
    emit.op("torch.imag" if name == "real" else "torch.real", other, input=whole)
    result = emit.copy(whole)
    halves = (part, other) if name == "real" else (other, part)
    emit.op("torch.complex", result, real=halves[0], imag=halves[1])
    return result


@writes_back("view_as_complex")
def as_real(emit: Emitter, call: Call, index: int, whole: Operand, part: Operand) -> Operand:
    result = emit.copy(whole)
    emit.op("torch.view_as_real", result, input=resolved(call, emit, part))
    return result


@writes_back("view_as_real")
def as_complex(emit: Emitter, call: Call, index: int, whole: Operand, part: Operand) -> Operand:
    """`torch.view_as_complex` is choosy about strides, which the part may have any of."""
    halves = []
    for half in (0, 1):
        halves.append(emit.temporary(whole.shape, part.dtype))
        emit.op("Tensor.select", halves[-1], input=part, dim=-1, index=half)
    result = emit.copy(whole)
    emit.op("torch.complex", result, real=halves[0], imag=halves[1])
    return result


def select_copy(
    emit: Emitter, whole: Operand, part: Operand, dim: int, index: int | Expr
) -> Operand:
    """`whole[:, index] = part`, on a copy."""
    result = emit.copy(whole)
    emit.op(
        "Tensor.slice_copy",
        result,
        self=whole,
        src=part,
        dim=dim,
        select=index,
        start=0,
        end=0,
        step=0,
    )
    return result


def slice_copy(
    emit: Emitter,
    whole: Operand,
    part: Operand,
    dim: int,
    start: int | Expr,
    end: int | Expr,
    step: int = 1,
) -> Operand:
    """`whole[:, start:end:step] = part`, on a copy."""
    result = emit.copy(whole)
    emit.op(
        "Tensor.slice_copy", result, self=whole, src=part, dim=dim, start=start, end=end, step=step
    )
    return result
