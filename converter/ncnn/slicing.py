"""Parts of tensors: slices, single indices, splits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from converter.dims import total
from converter.ir import Dim, Shape
from converter.ncnn.blob import Blob
from converter.ncnn.joining import concatenated
from converter.ncnn.layers import CROP, FLIP, SLICE
from converter.ncnn.op import FIX, Op
from converter.ncnn.registry import ncnn
from converter.ncnn.shape import squeezed

END = 2**31 - 1
"""What pnnx writes for the end of a slice that has none, and for a select that is none."""


class Part(NamedTuple):
    """What is taken of a dim: from start up to end, both within it, and whether it is dropped.

    Where the dim, the start or the end is dynamic, they may count from the end and reach beyond it.
    """

    dim: int
    start: Dim
    end: Dim
    step: int = 1
    dropped: bool = False


def parts_of(op: Op, x: Blob) -> list[Part]:
    """The parts that an operator names: one by dim, start, end and step, or several of each.

    A part with a `select` is one index, whose dim is dropped.
    """
    if "dims" not in op.params:
        dim = op.dim(x.rank)
        if "select" in op.params:
            return [selected(op, x, dim, op.integer("select"))]
        start, end = _bound(op, "start", 0), _bound(op, "end", END)
        return [_part(op, x, dim, start, end, op.integer("step", 1))]
    dims = [op.wrap(dim, x.rank) for dim in op.integers("dims")]
    starts, ends, steps = op.integers("starts"), op.integers("ends"), op.integers("steps")
    selects = op.integers("selects") if "selects" in op.params else (END,) * len(dims)
    return [
        _part(op, x, dim, start, end, step) if select == END else selected(op, x, dim, select)
        for dim, start, end, step, select in zip(dims, starts, ends, steps, selects, strict=True)
    ]


def _bound(op: Op, name: str, default: int) -> Dim:
    return default if name in op.params and op.params[name] is None else op.extent(name, default)


def _part(op: Op, x: Blob, dim: int, start: Dim, end: Dim, step: int) -> Part:
    """Python's slice of a dim, which may be counted from the end and reach beyond it."""
    if step == 1 and not all(isinstance(one, int) for one in (x.shape[dim], start, end)):
        return Part(dim, start, end)
    size = op.size(x, dim)
    if not isinstance(start, int) or not isinstance(end, int):
        op.refuse(f"step={step} of a part whose ends are dynamic", FIX)
    start, end, _ = slice(start, end).indices(size)
    if end <= start:
        op.refuse(f"slices a dim of size {size} to nothing, and ncnn has no empty blobs")
    if step < 1:
        op.refuse(f"step={step}")
    return Part(dim, start, end, step)


def selected(op: Op, x: Blob, dim: int, index: Dim) -> Part:
    size = x.shape[dim]
    if isinstance(size, int) and isinstance(index, int):
        index = op.wrap(index, size)
    return Part(dim, index, END if index == -1 else total((index, 1)), dropped=True)


def sizes_of(x: Blob, parts: Sequence[Part]) -> list[int]:
    """The sizes of parts, whatever the step. Raises ValueError if one is dynamic."""
    sizes: list[int] = []
    for part in parts:
        if not all(isinstance(one, int) for one in (x.shape[part.dim], part.start, part.end)):
            raise ValueError(f"takes a dynamic part of dim {part.dim}; {FIX}")
        sizes.append(int(part.end) - int(part.start))
    return sizes


def cropped(op: Op, x: Blob, parts: Sequence[Part], shape: Shape | None = None) -> Blob:
    """The parts of a tensor, of each dim from its start to its end, whatever the step.

    `shape` is that of the result; it is worked out where no part is dynamic.
    """
    if shape is None:
        made: list[Dim] = list(x.shape)
        for part, size in zip(parts, sizes_of(x, parts), strict=True):
            made[part.dim] = size
        shape = tuple(made)
    if shape == x.shape:
        return x
    x = op.free(x, *(part.dim for part in parts))
    starts, ends = [part.start for part in parts], [part.end for part in parts]
    axes = [x.axis(part.dim) for part in parts]
    sizes = op.expressions(x)
    if all(isinstance(bound, int) for bound in (*starts, *ends)):
        call = CROP(starts=tuple(starts), ends=tuple(ends), axes=tuple(axes))
    else:
        call = CROP(
            starts_expr=sizes.write(starts),
            ends_expr=sizes.write(ends),
            axes_expr=sizes.write(axes),
        )
    return op.emit(call, *sizes.read, shape=shape)


def _before_steps(op: Op, x: Blob, parts: Sequence[Part]) -> Shape | None:
    """The shape of a slice with the dims that are dropped, if none has a step."""
    if any(part.step > 1 for part in parts):
        return None
    dropped = {part.dim for part in parts if part.dropped}
    if len(op.shape()) != x.rank - len(dropped):
        op.refuse(f"makes a tensor of rank {len(op.shape())} of one of rank {x.rank}")
    left = iter(op.shape())
    return tuple(1 if dim in dropped else next(left) for dim in range(x.rank))


@ncnn("Tensor.slice", dtypes="moved")
def tensor_slice(op: Op) -> Blob:
    x = op.blob()
    parts = parts_of(op, x)
    x = cropped(op, x, parts, _before_steps(op, x, parts))
    for part in parts:
        if part.step > 1:
            x = stepped(op, x, part.dim, part.step)
    return _without(op, x, parts)


def _without(op: Op, x: Blob, parts: Sequence[Part]) -> Blob:
    """The tensor without the dims that are dropped."""
    for part in sorted(parts, reverse=True):
        if part.dropped:
            x = squeezed(op, x, part.dim)
    return x


def stepped(op: Op, x: Blob, dim: int, step: int) -> Blob:
    """Each `step`-th of a dim: rows of `step` are made of it, and the first of each row is kept."""
    size = op.size(x, dim)
    whole, rest = divmod(size, step)
    last = cropped(op, x, [Part(dim, whole * step, whole * step + 1)]) if rest else None
    if not whole:
        assert last is not None
        return last
    x = cropped(op, x, [Part(dim, 0, whole * step)])
    shape = op.sizes(x)
    lead, tail = shape[:dim], shape[dim + 1 :]
    rows = op.view(x, (math.prod(lead) * whole, step, math.prod(tail)), None)
    firsts = cropped(op, rows, [Part(1, 0, 1)])
    kept = op.view(firsts, (*lead, whole, *tail), x.batch)
    return kept if last is None else concatenated(op, [kept, last], dim)


@ncnn("torch.narrow", dtypes="moved")
def narrow(op: Op) -> Blob:
    x = op.blob()
    dim = op.dim(x.rank)
    start, size, length = op.extent("start"), x.shape[dim], op.extent("length")
    if isinstance(start, int) and isinstance(size, int) and start < 0:
        start += size
    return cropped(op, x, [_part(op, x, dim, start, total((start, length)), 1)], op.shape())


@ncnn("Tensor.select", "torch.select", dtypes="moved")
def select(op: Op) -> Blob:
    x = op.blob()
    parts = [selected(op, x, op.dim(x.rank), op.extent("index"))]
    return _without(op, cropped(op, x, parts, _before_steps(op, x, parts)), parts)


@ncnn("torch.chunk", dtypes="moved")
def chunk(op: Op) -> list[Blob]:
    """PyTorch's chunks have the size of a part rounded up, and there may be fewer."""
    size, count = _dim_size(op), op.integer("chunks")
    part = -(-size // count)
    return split(op, [min(part, size - start) for start in range(0, size, part)])


@ncnn("torch.split", dtypes="moved")
def torch_split(op: Op) -> list[Blob]:
    name = "split_size_or_sections"
    if op.operator.has_input(name):
        return _cut(op, op.extents(name))
    size = _dim_size(op)
    if isinstance(op.params.get(name), tuple):
        return split(op, list(op.integers(name)))
    part = op.integer(name)
    return split(op, [min(part, size - start) for start in range(0, size, part)])


@ncnn("torch.tensor_split", dtypes="moved")
def tensor_split(op: Op) -> list[Blob]:
    size = _dim_size(op)
    if "indices" in op.params:
        places = [0, *(slice(index).indices(size)[1] for index in op.integers("indices")), size]
        return split(op, [end - start for start, end in pairwise(places)])
    part, rest = divmod(size, op.integer("sections"))
    return split(op, [part + (place < rest) for place in range(op.integer("sections"))])


@ncnn("torch.unbind", dtypes="moved")
def unbind(op: Op) -> list[Blob]:
    dim = op.dim(op.blob().rank, default=0)
    return [squeezed(op, part, dim) for part in split(op, [1] * op.size(op.blob(), dim))]


def _dim_size(op: Op) -> int:
    x = op.blob()
    return op.size(x, op.dim(x.rank, default=0))


def split(op: Op, sizes: Sequence[int]) -> list[Blob]:
    """Parts of these sizes of the dim that the operator names."""
    dim = op.dim(op.blob().rank, default=0)
    return split_at(op, op.blob(), dim, sizes)


def _cut(op: Op, sizes: Shape) -> list[Blob]:
    """Parts of these sizes, some of them dynamic, of the dim that the operator names."""
    x = op.blob()
    dim = op.dim(x.rank, default=0)
    bounds = [total(sizes[:place]) for place in range(len(sizes) + 1)]
    return [
        cropped(op, x, [Part(dim, start, end)], op.shape(place))
        for place, (start, end) in enumerate(pairwise(bounds))
    ]


def split_at(op: Op, x: Blob, dim: int, sizes: Sequence[int]) -> list[Blob]:
    """Parts of these sizes of a dim."""
    if not all(size > 0 for size in sizes) or sum(sizes) != op.size(x, dim):
        op.refuse(f"splits a dim of size {op.size(x, dim)} into {tuple(sizes)}")
    if len(sizes) == 1:
        return [x]
    x = op.free(x, dim)
    outputs = [((*x.shape[:dim], size, *x.shape[dim + 1 :]), x.batch) for size in sizes]
    return op.emits(SLICE(slices=tuple(sizes), axis=x.axis(dim)), [x], outputs)


@ncnn("torch.flip", dtypes="moved")
def flip(op: Op) -> Blob:
    x = op.blob()
    if not x.rank or not op.integers("dims"):
        return x
    dims = op.dims(x.rank, "dims")
    x = op.free(x, *dims)
    return op.emit(FLIP(axes=x.axes(dims)), x)


@ncnn("torch.roll", dtypes="moved")
def roll(op: Op) -> Blob:
    """The end of each dim, then its start. Without dims the tensor is rolled as if it were flat."""
    x, shifts = op.blob(), op.integers("shifts")
    if op.params.get("dims") in (None, ()):
        return op.view(
            _rolled(op, op.view(x, (math.prod(op.sizes(x)),), None), 0, shifts[0]), x.shape, None
        )
    for dim, shift in zip(op.integers("dims"), shifts, strict=True):
        x = _rolled(op, x, op.wrap(dim, x.rank), shift)
    return x


def _rolled(op: Op, x: Blob, dim: int, shift: int) -> Blob:
    size = op.size(x, dim)
    if not shift % size:
        return x
    start, end = split_at(op, x, dim, [size - shift % size, shift % size])
    return concatenated(op, [end, start], dim)
