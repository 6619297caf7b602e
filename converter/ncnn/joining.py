"""Tensors put together: concatenated, stacked, repeated, broadcast."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from converter.dims import product, total
from converter.ir import Dim, Shape
from converter.ncnn.arithmetic import broadcast
from converter.ncnn.blob import Blob
from converter.ncnn.layers import CONCAT, INTERP, TILE
from converter.ncnn.op import Op
from converter.ncnn.registry import ncnn
from converter.ncnn.shape import unsqueezed

NEAREST = 1
"""Interp's resize_type."""


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
    below = op.type == "torch.vstack"
    blobs = [_at_least(op, op.blob(index), 1 + below) for index in range(op.count)]
    return concatenated(op, blobs, 0 if below or blobs[0].rank == 1 else 1)


def _at_least(op: Op, x: Blob, rank: int) -> Blob:
    """With dims before its own, where there are fewer."""
    for _ in range(rank - x.rank):
        x = unsqueezed(op, x, 0)
    return x


def concatenated(op: Op, blobs: Sequence[Blob], dim: int) -> Blob:
    """Blobs joined along a dim, in the layout of the first that has a batch, if it can."""
    blobs = [blob for blob in blobs if blob.shape[dim] != 0] or blobs[:1]
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
    return expanded(op, op.blob(), op.shape())


@ncnn("torch.broadcast_tensors", dtypes="moved")
def broadcast_tensors(op: Op) -> list[Blob]:
    shape = op.known(op.shape())
    return [expanded(op, op.blob(index), shape) for index in range(op.count)]


@ncnn("torch.meshgrid", dtypes="moved")
def meshgrid(op: Op) -> list[Blob]:
    """Each vector along a dim of its own; by `xy` the first two change places."""
    dims = list(range(op.count))
    if op.text("indexing", "ij") == "xy":
        dims[:2] = reversed(dims[:2])
    grids, shape = [], op.shape()
    for index, dim in enumerate(dims):
        alone = tuple(size if place == dim else 1 for place, size in enumerate(shape))
        grids.append(expanded(op, op.view(op.blob(index), alone, None), shape))
    return grids


def expanded(op: Op, x: Blob, shape: Shape) -> Blob:
    """The tensor broadcast to a shape."""
    broadcast(op, x.shape, shape)
    for _ in range(len(shape) - x.rank):
        x = unsqueezed(op, x, 0)
    repeats = []
    for dim, (old, new) in enumerate(zip(x.shape, shape, strict=True)):
        if old != new and isinstance(new, str):
            x = _spread(op, x, dim, new)
        repeats.append(new if old != new and isinstance(new, int) else 1)
    return tiled(op, x, repeats)


def _spread(op: Op, x: Blob, dim: int, size: Dim) -> Blob:
    """The tensor with a dim of size 1 repeated as often as the network works out.

    Tile takes no expressions. Resizing to the nearest does, and repeats a single row.
    """
    lead, tail = product(x.shape[:dim]), product(x.shape[dim + 1 :])
    row = op.view(x, (1, lead, 1, tail), 0)
    sizes = op.expressions(row, whole=True)
    call = INTERP(
        resize_type=NEAREST,
        align_corner=0,
        dynamic_target_size=1,
        size_expr=sizes.write((tail, size)),
    )
    rows = op.emit(call, *sizes.read, shape=(1, lead, size, tail), batch=0)
    shape = (*x.shape[:dim], size, *x.shape[dim + 1 :])
    made = op.view(rows, shape, None if x.batch == dim else x.batch)
    return replace(made, dtype=x.dtype)


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
    shape = tuple(product(pair) for pair in zip(x.shape, repeats, strict=True))
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
