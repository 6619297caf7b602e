"""Blobs: how tensors lie in ncnn.

ncnn holds one to four dimensions, named c, d, h and w from the outside in, and beside them a
batch. A tensor of PyTorch lies in a blob either whole, or with one of its axes as the batch; no
layer mixes what is in the batch. Image layers need axis 0 there, `nn.LSTM` may need axis 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from converter.ir import Attribute, Dim, Operand, Shape

MAX_RANK = 4


@dataclass(frozen=True, eq=False)
class Blob:
    """A tensor of PyTorch in a blob: its shape, and the axis that is the batch, or None.

    `dtype` is the tensor's. The blob holds floats, of integers and booleans too, unless `indices`
    says that it holds 32-bit integers, as `Embed` reads. `values` are a constant's, whose layer is
    made when it is read; `origin` is the blob that this one is only another view of, in row-major
    order.
    """

    operand: Operand | None
    shape: Shape
    dtype: str | None = "f32"
    batch: int | None = None
    values: Attribute | None = None
    origin: Blob | None = None
    indices: bool = False

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def dims(self) -> Shape:
        """The blob's own dimensions, outermost first, without the batch. A scalar has one."""
        return physical(self.shape, self.batch)

    @property
    def count(self) -> Dim:
        """The size of the batch."""
        return 1 if self.batch is None else self.shape[self.batch]

    def axis(self, dim: int) -> int:
        """Where a (non-negative) dim of the tensor lies in the blob. Not for the batch axis."""
        assert dim != self.batch
        return dim - (self.batch is not None and dim > self.batch)

    def axes(self, dims: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(self.axis(dim) for dim in dims)


def physical(shape: Shape, batch: int | None) -> Shape:
    """The dimensions of a blob for a tensor of that shape and batch axis."""
    if batch is not None:
        shape = shape[:batch] + shape[batch + 1 :]
    return shape or (1,)


def product(dims: Shape) -> Dim | None:
    """The number of elements: a size, an expression that only equal dims share, None if unknown."""
    if "?" in dims:
        return None
    sizes = math.prod(dim for dim in dims if isinstance(dim, int))
    symbols = sorted(dim for dim in dims if isinstance(dim, str))
    return "*".join([*symbols, str(sizes)]) if symbols else sizes


def carried(shape: Shape, axis: int | None, to: Shape) -> int | None:
    """The axis of `to` that holds what `axis` of `shape` does when one is reshaped to the other.

    That is an axis of the same size with as many elements before it. None if there is none.
    """
    if axis is None:
        return None
    before = product(shape[:axis])
    if before is None:
        return None
    for place, dim in enumerate(to):
        if dim == shape[axis] and product(to[:place]) == before:
            return place
    return None
