"""Tensors with a part replaced."""

from __future__ import annotations

import math
from collections.abc import Sequence

from converter.ncnn.blob import Blob
from converter.ncnn.joining import concatenated, expanded
from converter.ncnn.layers import COPY_TO
from converter.ncnn.op import Op
from converter.ncnn.registry import ncnn
from converter.ncnn.shape import unsqueezed
from converter.ncnn.slicing import Part, cropped, parts_of, selected, sizes_of, stepped


@ncnn("Tensor.slice_copy")
def slice_copy(op: Op) -> Blob:
    """A tensor with parts replaced."""
    x = op.need("self", 0)
    return _replaced(op, x, op.need("src", 1), parts_of(op, x))


@ncnn("Tensor.slice_scatter", "torch.slice_scatter")
def slice_scatter(op: Op) -> Blob:
    x = op.need("input", 0)
    return _replaced(op, x, op.need("src", 1), parts_of(op, x))


@ncnn("Tensor.select_scatter", "torch.select_scatter")
def select_scatter(op: Op) -> Blob:
    x = op.need("input", 0)
    part = selected(op, x, op.dim(x.rank), op.integer("index"))
    return _replaced(op, x, op.need("src", 1), [part])


def _replaced(op: Op, x: Blob, source: Blob, parts: Sequence[Part]) -> Blob:
    for part in sorted(parts):
        if part.dropped:
            source = unsqueezed(op, source, part.dim)
    by_steps = next((part for part in parts if part.step > 1), None)
    if by_steps is not None:
        others = [part._replace(dropped=False) for part in parts if part is not by_steps]
        return _replaced_by_steps(op, x, source, by_steps, others)
    shape = list(op.sizes(x))
    for part, size in zip(parts, sizes_of(x, parts), strict=True):
        shape[part.dim] = size
    source = expanded(op, source, tuple(shape))
    if source.shape == x.shape:
        return source
    x = op.free(x, *(part.dim for part in parts))
    call = COPY_TO(
        starts=tuple(part.start for part in parts),
        axes=tuple(x.axis(part.dim) for part in parts),
    )
    return op.emit(call, x, op.lay(source, x.batch), shape=x.shape)


def _replaced_by_steps(op: Op, x: Blob, source: Blob, part: Part, others: Sequence[Part]) -> Blob:
    """The other parts are replaced in each `step`-th of the dim, which then goes back among the
    rest of it.
    """
    dim, step, start, end = part.dim, part.step, int(part.start), int(part.end)
    old = cropped(op, x, [part])
    new = _replaced(op, stepped(op, old, dim, step), source, others)
    rows = (end - start) // step
    pieces = _piece(op, x, dim, 0, start)
    if rows:
        (firsts,) = _piece(op, new, dim, 0, rows)
        (whole,) = _piece(op, old, dim, 0, rows * step)
        pieces.append(_woven(op, firsts, whole, dim, step))
    pieces += _piece(op, new, dim, rows, op.size(new, dim))
    pieces += _piece(op, old, dim, rows * step + 1, end - start)
    pieces += _piece(op, x, dim, end, op.size(x, dim))
    return concatenated(op, pieces, dim)


def _piece(op: Op, x: Blob, dim: int, start: int, end: int) -> list[Blob]:
    """What is between two places of a dim, if there is anything."""
    return [cropped(op, x, [Part(dim, start, end)])] if start < end else []


def _woven(op: Op, firsts: Blob, x: Blob, dim: int, step: int) -> Blob:
    """The tensor as rows of `step` along a dim, with others in the place of the first of each."""
    shape = op.sizes(x)
    count, tail = math.prod(shape[: dim + 1]) // step, math.prod(shape[dim + 1 :])
    rest = cropped(op, op.view(x, (count, step, tail), None), [Part(1, 1, step)])
    rows = concatenated(op, [op.view(firsts, (count, 1, tail), None), rest], 1)
    return op.view(rows, shape, x.batch)
