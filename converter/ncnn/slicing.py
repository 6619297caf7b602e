"""Parts of tensors, and tensors put together: slices, splits, concatenations, repetitions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from converter.ir import Shape
from converter.ncnn.arithmetic import broadcast
from converter.ncnn.blob import Blob
from converter.ncnn.layers import CONCAT, COPY_TO, CROP, FLIP, SLICE, TILE
from converter.ncnn.op import Op
from converter.ncnn.registry import ncnn
from converter.ncnn.shape import squeezed, unsqueezed

END = 2**31 - 1
"""What pnnx writes for the end of a slice that has none, and for a select that is none."""
REST = -233
"""What ncnn takes for the part of a Slice that shares what the others leave."""


def cropped(op: Op, x: Blob, ranges: dict[int, tuple[int, int]]) -> Blob:
    """The part of the tensor between start and end of some dims, both within the dim."""
    x = op.free(x, *ranges)
    dims = sorted(ranges)
    shape = list(x.shape)
    for dim, (start, end) in ranges.items():
        shape[dim] = end - start
    if tuple(shape) == x.shape:
        return x
    call = CROP(
        starts=tuple(ranges[dim][0] for dim in dims),
        ends=tuple(ranges[dim][1] for dim in dims),
        axes=x.axes(tuple(dims)),
    )
    return op.emit(call, x, shape=tuple(shape))


def _size(op: Op, x: Blob, dim: int) -> int:
    return op.known(x.shape[dim : dim + 1])[0]


def _range(op: Op, size: int, start: int, end: int) -> tuple[int, int]:
    """Python's slice of a dim, which may be counted from the end and reach beyond it."""
    start, end, _ = slice(start, end).indices(size)
    if end <= start:
        op.refuse(f"slices a dim of size {size} to nothing, and ncnn has no empty blobs")
    return start, end


@ncnn("Tensor.slice", dtypes="moved")
def tensor_slice(op: Op) -> Blob:
    """One slice by dim, start, end and step; or several, some of which select an index."""
    x = op.blob()
    if "dims" not in op.params:
        dim = op.dim(x.rank)
        return _sliced(op, x, [(dim, *_bounds(op), op.integer("step", 1))])
    dims = [op.wrap(dim, x.rank) for dim in op.integers("dims")]
    starts, ends, steps = op.integers("starts"), op.integers("ends"), op.integers("steps")
    selects = op.integers("selects") if "selects" in op.params else (END,) * len(dims)
    parts = []
    selected = []
    for dim, start, end, step, select in zip(dims, starts, ends, steps, selects, strict=True):
        if select != END:
            index = op.wrap(select, _size(op, x, dim))
            selected.append(dim)
            parts.append((dim, index, index + 1, 1))
        else:
            parts.append((dim, start, end, step))
    x = _sliced(op, x, parts)
    for dim in sorted(selected, reverse=True):
        x = squeezed(op, x, dim)
    return x


def _bounds(op: Op) -> tuple[int, int]:
    start = 0 if op.params.get("start") is None else op.integer("start")
    end = END if op.params.get("end") is None else op.integer("end")
    return start, end


def _sliced(op: Op, x: Blob, parts: list[tuple[int, int, int, int]]) -> Blob:
    ranges = {}
    for dim, start, end, step in parts:
        if step < 1:
            op.refuse(f"step={step}")
        start, end = _range(op, _size(op, x, dim), start, end)
        ranges[dim] = (start, end)
    x = cropped(op, x, ranges)
    for dim, _, _, step in parts:
        if step > 1:
            x = _stepped(op, x, dim, step)
    return x


def _stepped(op: Op, x: Blob, dim: int, step: int) -> Blob:
    """Each `step`-th of a dim: rows of `step` are made of it, and the first of each row is kept."""
    size = _size(op, x, dim)
    whole, rest = divmod(size, step)
    last = cropped(op, x, {dim: (whole * step, whole * step + 1)}) if rest else None
    if not whole:
        assert last is not None
        return last
    x = cropped(op, x, {dim: (0, whole * step)})
    lead, tail = x.shape[:dim], x.shape[dim + 1 :]
    before, after = _count(op, lead), _count(op, tail)
    rows = op.view(x, (before * whole, step, after), None)
    firsts = cropped(op, rows, {1: (0, 1)})
    kept = op.view(firsts, (*lead, whole, *tail), x.batch)
    return kept if last is None else concatenated(op, [kept, last], dim)


def _count(op: Op, shape: Shape) -> int:
    count = 1
    for size in op.known(shape):
        count *= size
    return count


@ncnn("torch.narrow", dtypes="moved")
def narrow(op: Op) -> Blob:
    dim = op.dim(op.blob().rank)
    start = op.wrap(op.integer("start"), _size(op, op.blob(), dim))
    return cropped(op, op.blob(), {dim: (start, start + op.integer("length"))})


@ncnn("Tensor.select", "torch.select", dtypes="moved")
def select(op: Op) -> Blob:
    dim = op.dim(op.blob().rank)
    return selected(op, op.blob(), dim, op.wrap(op.integer("index"), _size(op, op.blob(), dim)))


def selected(op: Op, x: Blob, dim: int, index: int) -> Blob:
    """One index of a dim, which is dropped."""
    return squeezed(op, cropped(op, x, {dim: (index, index + 1)}), dim)


@ncnn("torch.chunk", dtypes="moved")
def chunk(op: Op) -> list[Blob]:
    """PyTorch's chunks have the size of a part rounded up, and there may be fewer."""
    size, count = _dim_size(op), op.integer("chunks")
    part = -(-size // count)
    return split(op, [min(part, size - start) for start in range(0, size, part)])


@ncnn("torch.split", dtypes="moved")
def torch_split(op: Op) -> list[Blob]:
    name = "split_size_or_sections"
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
    return [squeezed(op, part, dim) for part in split(op, [1] * _size(op, op.blob(), dim))]


def _dim_size(op: Op) -> int:
    x = op.blob()
    return _size(op, x, op.dim(x.rank, default=0))


def split(op: Op, sizes: Sequence[int]) -> list[Blob]:
    """Parts of these sizes of the dim that the operator names."""
    dim = op.dim(op.blob().rank, default=0)
    return split_at(op, op.blob(), dim, sizes)


def split_at(op: Op, x: Blob, dim: int, sizes: Sequence[int]) -> list[Blob]:
    """Parts of these sizes of a dim."""
    if not all(size > 0 for size in sizes) or sum(sizes) != _size(op, x, dim):
        op.refuse(f"splits a dim of size {_size(op, x, dim)} into {tuple(sizes)}")
    if len(sizes) == 1:
        return [x]
    x = op.free(x, dim)
    outputs = [((*x.shape[:dim], size, *x.shape[dim + 1 :]), x.batch) for size in sizes]
    return op.emits(SLICE(slices=tuple(sizes), axis=x.axis(dim)), [x], outputs)


@ncnn("torch.cat", dtypes="moved")
def cat(op: Op) -> Blob:
    blobs = [op.blob(index) for index in range(op.count)]
    return concatenated(op, blobs, op.dim(blobs[0].rank, default=0))


@ncnn("torch.stack", dtypes="moved")
def stack(op: Op) -> Blob:
    """Concatenated before the dim, which is then made: a blob more of rank four could not be."""
    blobs = [op.blob(index) for index in range(op.count)]
    rank = blobs[0].rank
    dim = op.dim(rank + 1, default=0)
    if rank and dim < rank:
        joined = concatenated(op, blobs, dim)
        return op.view(joined, op.shape(), _unsqueezed_batch(joined, dim))
    return concatenated(op, [unsqueezed(op, blob, dim) for blob in blobs], dim)


def _unsqueezed_batch(x: Blob, dim: int) -> int | None:
    return None if x.batch is None else x.batch + (x.batch >= dim)


def concatenated(op: Op, blobs: Sequence[Blob], dim: int) -> Blob:
    """Blobs joined along a dim, in the layout of the first that has a batch, if it can."""
    if len(blobs) == 1:
        return blobs[0]
    laid = [op.free(blob, dim) for blob in blobs]
    batch = next((blob.batch for blob in laid if blob.batch is not None), None)
    laid = [op.lay(blob, batch) for blob in laid]
    size = sum(_size(op, blob, dim) for blob in laid)
    shape = (*laid[0].shape[:dim], size, *laid[0].shape[dim + 1 :])
    return op.emit(CONCAT(axis=laid[0].axis(dim)), *laid, shape=shape)


@ncnn("torch.flip", dtypes="moved")
def flip(op: Op) -> Blob:
    dims = op.dims(op.blob().rank, "dims")
    x = op.free(op.blob(), *dims)
    return op.emit(FLIP(axes=x.axes(dims)), x)


@ncnn("torch.roll", dtypes="moved")
def roll(op: Op) -> Blob:
    """The end of each dim, then its start. Without dims the tensor is rolled as if it were flat."""
    x, shifts = op.blob(), op.integers("shifts")
    if op.params.get("dims") in (None, ()):
        return op.view(
            _rolled(op, op.view(x, (_count(op, x.shape),), None), 0, shifts[0]), x.shape, None
        )
    for dim, shift in zip(op.integers("dims"), shifts, strict=True):
        x = _rolled(op, x, op.wrap(dim, x.rank), shift)
    return x


def _rolled(op: Op, x: Blob, dim: int, shift: int) -> Blob:
    size = _size(op, x, dim)
    if not shift % size:
        return x
    start, end = split_at(op, x, dim, [size - shift % size, shift % size])
    return concatenated(op, [end, start], dim)


@ncnn("Tensor.expand", "Tensor.expand_as", dtypes="moved")
def expand(op: Op) -> Blob:
    return expanded(op, op.blob(), op.known(op.shape()))


def expanded(op: Op, x: Blob, shape: tuple[int, ...]) -> Blob:
    """The tensor broadcast to a shape."""
    broadcast(op, x.shape, shape)
    for _ in range(len(shape) - x.rank):
        x = unsqueezed(op, x, 0)
    sizes = op.sizes(x)
    return tiled(op, x, [1 if old == new else new for old, new in zip(sizes, shape, strict=True)])


@ncnn("Tensor.repeat", "torch.tile", dtypes="moved")
def repeat(op: Op) -> Blob:
    x = op.blob()
    repeats = list(op.integers("sizes" if op.type == "Tensor.repeat" else "dims"))
    for _ in range(len(repeats) - x.rank):
        x = unsqueezed(op, x, 0)
    return tiled(op, x, [1] * (x.rank - len(repeats)) + repeats)


def tiled(op: Op, x: Blob, repeats: list[int]) -> Blob:
    """The tensor repeated along each dim."""
    dims = [dim for dim, count in enumerate(repeats) if count != 1]
    if not dims:
        return x
    if not all(repeats):
        op.refuse("repeats to nothing, and ncnn has no empty blobs")
    x = op.free(x, *dims)
    shape = tuple(size * count for size, count in zip(op.sizes(x), repeats, strict=True))
    counts = tuple(count for dim, count in enumerate(repeats) if dim != x.batch)
    return op.emit(TILE(repeats=counts), x, shape=shape)


@ncnn("torch.repeat_interleave", dtypes="moved")
def repeat_interleave(op: Op) -> Blob:
    """Each item several times: tiled in a dim of its own."""
    x, count = op.blob(), op.integer("repeats")
    if op.params.get("dim") is None:
        x = op.view(x, (_count(op, x.shape),), None)
    dim = 0 if op.params.get("dim") is None else op.dim(x.rank)
    lead, size, tail = _count(op, x.shape[:dim]), _size(op, x, dim), _count(op, x.shape[dim + 1 :])
    rows = op.view(x, (lead * size, 1, tail), None)
    shape = (*x.shape[:dim], size * count, *x.shape[dim + 1 :])
    return op.view(tiled(op, rows, [1, count, 1]), shape, None if x.batch == dim else x.batch)


@ncnn(
    "Tensor.slice_scatter", "torch.slice_scatter", "Tensor.select_scatter", "torch.select_scatter"
)
def scatter(op: Op) -> Blob:
    """A tensor with a slice of it replaced."""
    x, src = op.need("input", 0), op.need("src", 1)
    dim = op.dim(x.rank, default=0)
    size = _size(op, x, dim)
    if op.type.endswith("select_scatter"):
        start = op.wrap(op.integer("index"), size)
        src = unsqueezed(op, src, dim)
    else:
        if op.integer("step", 1) != 1:
            op.refuse("step is not expressible in ncnn")
        start, _ = _range(op, size, *_bounds(op))
    x = op.free(x, dim)
    src = op.lay(src, x.batch)
    return op.emit(COPY_TO(starts=(start,), axes=(x.axis(dim),)), x, src)
