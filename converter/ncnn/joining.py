"""Tensors put together: concatenated, stacked, repeated, broadcast."""

from __future__ import annotations

import math
from collections.abc import Sequence

from converter.dims import total
from converter.ncnn.arithmetic import broadcast
from converter.ncnn.blob import Blob
from converter.ncnn.layers import CONCAT, TILE
from converter.ncnn.op import Op
from converter.ncnn.registry import ncnn
from converter.ncnn.shape import unsqueezed


@ncnn("torch.cat", dtypes="moved")
def cat(op: Op) -> Blob:
    """PyTorch passes over what is of shape (0,), such as the cache before its first entry."""
    every = [op.blob(index) for index in range(op.count)]
    blobs = [blob for blob in every if blob.shape != (0,)]
    return concatenated(op, blobs, op.dim(blobs[0].rank, default=0))


@ncnn("torch.stack", dtypes="moved")
def stack(op: Op) -> Blob:
    """Concatenated before the dim, which is then made: a blob more of rank four could not be."""
    blobs = [op.blob(index) for index in range(op.count)]
    rank = blobs[0].rank
    dim = op.dim(rank + 1, default=0)
    if rank and dim < rank:
        joined = concatenated(op, blobs, dim)
        batch = None if joined.batch is None else joined.batch + (joined.batch >= dim)
        return op.view(joined, op.shape(), batch)
    return concatenated(op, [unsqueezed(op, blob, dim) for blob in blobs], dim)


@ncnn("torch.hstack", "torch.vstack", dtypes="moved")
def stacked(op: Op) -> Blob:
    """Columns side by side, rows below each other. Vectors are rows; hstack joins their ends."""
    blobs = [op.blob(index) for index in range(op.count)]
    if op.type == "torch.hstack":
        return concatenated(op, blobs, min(1, blobs[0].rank - 1))
    return concatenated(op, [b if b.rank > 1 else unsqueezed(op, b, 0) for b in blobs], 0)


def concatenated(op: Op, blobs: Sequence[Blob], dim: int) -> Blob:
    """Blobs joined along a dim, in the layout of the first that has a batch, if it can."""
    if len(blobs) == 1:
        return blobs[0]
    laid = [op.free(blob, dim) for blob in blobs]
    batch = next((blob.batch for blob in laid if blob.batch is not None), None)
    laid = [op.lay(blob, batch) for blob in laid]
    size = total(blob.shape[dim] for blob in laid)
    shape = (*laid[0].shape[:dim], size, *laid[0].shape[dim + 1 :])
    return op.emit(CONCAT(axis=laid[0].axis(dim)), *laid, shape=shape)


@ncnn("Tensor.expand", "Tensor.expand_as", dtypes="moved")
def expand(op: Op) -> Blob:
    return expanded(op, op.blob(), op.known(op.shape()))


@ncnn("torch.broadcast_tensors", dtypes="moved")
def broadcast_tensors(op: Op) -> list[Blob]:
    shape = op.known(op.shape())
    return [expanded(op, op.blob(index), shape) for index in range(op.count)]


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
        x = op.view(x, (math.prod(op.known(x.shape)),), None)
    dim = 0 if op.params.get("dim") is None else op.dim(x.rank)
    lead, size, tail = (
        math.prod(op.known(x.shape[:dim])),
        op.size(x, dim),
        math.prod(op.known(x.shape[dim + 1 :])),
    )
    rows = op.view(x, (lead * size, 1, tail), None)
    shape = (*x.shape[:dim], size * count, *x.shape[dim + 1 :])
    return op.view(tiled(op, rows, [1, count, 1]), shape, None if x.batch == dim else x.batch)
