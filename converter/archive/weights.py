"""Stored tensors: parameters, buffers and constants, read from the archive when asked for."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from converter.archive import schema
from converter.archive.enums import dtype_name, require_strided
from converter.archive.region import DAMAGED, printable
from converter.archive.zip import BUFFER, ZipFile
from converter.errors import UnsupportedError
from converter.ir import DTYPES, Array, Attribute, is_possible

DIMS_LIMIT = 32
"""NumPy 1's limit."""
REPEATED_LIMIT = 1 << 30
"""Bytes of a tensor that is larger than its payload, because a stride of 0 repeats elements."""


class StoredTensor:
    """A view of an entry of the archive: a shape, and strides and an offset counted in elements.

    Every element lies inside the entry (`stored_attribute` checks). Implements `ir.TensorData`.
    """

    def __init__(
        self,
        archive: ZipFile,
        entry: str,
        dtype: np.dtype[np.generic],
        shape: tuple[int, ...],
        strides: tuple[int, ...],
        offset: int,
    ) -> None:
        self._archive = archive
        self._entry = entry
        self._dtype = dtype
        self._shape = shape
        self._strides = strides
        first = offset if 0 not in shape else 0
        self._start = first * dtype.itemsize
        self._stop = (first + extent(shape, strides)) * dtype.itemsize

    def chunks(self, limit: int) -> Iterator[memoryview]:
        if is_contiguous(self._shape, self._strides):
            yield from self._archive.chunks(self._entry, limit, self._start, self._stop)
        else:
            for block in _blocks(self._gathered(), limit):
                yield np.ascontiguousarray(block).reshape(-1).view(np.uint8).data

    def array(self) -> Array:
        if is_contiguous(self._shape, self._strides):
            return self._read().view(self._dtype).reshape(self._shape)
        return np.ascontiguousarray(self._gathered()).view(self._dtype).reshape(self._shape)

    def _read(self) -> NDArray[np.uint8]:
        """Read the bytes from the first element to the last."""
        content = np.empty(self._stop - self._start, np.uint8)
        position = 0
        for chunk in self._archive.chunks(self._entry, BUFFER, self._start, self._stop):
            content[position : position + len(chunk)] = chunk
            position += len(chunk)
        return content

    def _gathered(self) -> NDArray[np.void]:
        """Lay the strides over those bytes; elements are opaque, so that any dtype is."""
        item = self._dtype.itemsize
        return np.ndarray(
            self._shape,
            np.dtype((np.void, item)),
            self._read(),
            strides=[stride * item for stride in self._strides],
        )


def stored_attribute(
    archive: ZipFile, folder: str, fqn: str, payload: schema.PayloadMeta
) -> Attribute:
    """Make the attribute of a stored tensor after checking every number of it against its entry.

    Raises ArchiveError if an element lies outside of the entry, UnsupportedError for a pickled
    tensor, a dtype or layout that pnnx lacks, and repetition beyond REPEATED_LIMIT.
    """
    name = f"`{printable(fqn)}`"
    meta = payload.tensor_meta
    if payload.use_pickle or meta is None:
        raise UnsupportedError(
            f"{name} is a tensor of a subclass, stored as a pickle",
            mend="make it a plain tensor before the export",
        )
    require_strided(meta.layout, name)
    dtype = dtype_name(meta.dtype, name)
    numbers = [size.as_int for size in (*meta.sizes, *meta.strides, meta.storage_offset)]
    known = [number for number in numbers if number is not None and number >= 0]
    dims = len(meta.sizes)
    if len(known) < len(numbers) or dims != len(meta.strides):
        raise archive.error(f"{name} has a size, stride or offset that is none", DAMAGED)
    if dims > DIMS_LIMIT:
        raise UnsupportedError(f"{name} has {dims} dims", mend="reshape it before the export")
    shape, strides, offset = tuple(known[:dims]), tuple(known[dims:-1]), known[-1]
    entry = folder + payload.path_name
    _check(archive, name, archive.entry(entry).size, DTYPES[dtype].itemsize, shape, strides, offset)
    data = StoredTensor(archive, entry, DTYPES[dtype], shape, strides, offset)
    return Attribute(dtype, shape, data, frozen=not meta.requires_grad)


def _check(
    archive: ZipFile,
    name: str,
    available: int,
    item: int,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    offset: int,
) -> None:
    """Check a view against the `available` bytes of its entry."""
    if not is_possible(shape, item):
        raise archive.error(f"{name} has an impossible shape", DAMAGED)
    count = math.prod(shape)
    if count and (offset + extent(shape, strides)) * item > available:
        if not available:  # torch.export.save writes fake tensors so
            raise archive.error(
                f"holds no values for {name}", "export the model with real weights, not fake ones"
            )
        raise archive.error(f"{name} reaches past the {available} bytes stored for it", DAMAGED)
    if count * item > max(available, REPEATED_LIMIT):
        raise UnsupportedError(
            f"{name} repeats its elements to {count * item} bytes",
            mend="store it unexpanded and expand it in forward",
        )


def extent(shape: Sequence[int], strides: Sequence[int]) -> int:
    """Count the elements from a view's first to its last, both included; 0 for an empty view."""
    if 0 in shape:
        return 0
    return 1 + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))


def is_contiguous(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Tell whether the elements lie in row-major order without gaps, as torch does."""
    if 0 in shape:
        return True
    expected = 1
    for size, stride in zip(reversed(shape), reversed(strides), strict=True):
        if size != 1:
            if stride != expected:
                return False
            expected *= size
    return True


def _blocks(view: NDArray[np.void], limit: int) -> Iterator[NDArray[np.void]]:
    """Cut a view into blocks of at most `limit` bytes, in row-major order."""
    if view.nbytes <= limit or not view.shape:
        yield view
        return
    rows = limit // (view.nbytes // len(view))
    if rows:
        for start in range(0, len(view), rows):
            yield view[start : start + rows]
    else:
        for row in view:
            yield from _blocks(row, limit)
