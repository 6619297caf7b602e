"""Padding with a constant, by reflection, by repetition or from the other end."""

from __future__ import annotations

from converter.dims import product, total
from converter.ncnn.blob import Blob
from converter.ncnn.joining import concatenated
from converter.ncnn.layers import PADDING
from converter.ncnn.op import Op
from converter.ncnn.registry import images, ncnn
from converter.ncnn.slicing import Part, cropped, sizes_of

Pads = list[tuple[int, int]]
"""Sizes before and after each of the last dims."""

MODES = {"zeros": 0, "constant": 0, "replicate": 1, "reflect": 2}
SIDES = (("front", "behind"), ("top", "bottom"), ("left", "right"))


@ncnn("nn.ConstantPad1d", "nn.ZeroPad1d", batch=images(1))
@ncnn("nn.ConstantPad2d", "nn.ZeroPad2d", batch=images(2))
@ncnn("nn.ConstantPad3d", "nn.ZeroPad3d", batch=images(3))
def constant_pad(op: Op) -> Blob:
    value = op.number("value", 0.0) if "value" in op.params else 0.0
    return pad(op, op.blob(), _pairs(op, op.integers("padding")), "constant", value)


@ncnn("nn.ReflectionPad1d", batch=images(1))
@ncnn("nn.ReflectionPad2d", batch=images(2))
@ncnn("nn.ReflectionPad3d", batch=images(3))
def reflection_pad(op: Op) -> Blob:
    return pad(op, op.blob(), _pairs(op, op.integers("padding")), "reflect")


@ncnn("nn.ReplicationPad1d", batch=images(1))
@ncnn("nn.ReplicationPad2d", batch=images(2))
@ncnn("nn.ReplicationPad3d", batch=images(3))
def replication_pad(op: Op) -> Blob:
    return pad(op, op.blob(), _pairs(op, op.integers("padding")), "replicate")


@ncnn("F.pad")
def f_pad(op: Op) -> Blob:
    value = 0.0 if op.params.get("value") is None else op.number("value")
    return pad(op, op.blob(), _pairs(op, op.integers("pad")), op.text("mode", "constant"), value)


def _pairs(op: Op, sizes: tuple[int, ...]) -> list[tuple[int, int]]:
    """PyTorch's sizes, last dim first, as pairs for the last dims in their order."""
    if len(sizes) % 2:
        op.refuse(f"pads by {sizes}")
    return list(zip(sizes[-2::-2], sizes[::-2], strict=True))


def pad(op: Op, x: Blob, pads: Pads, mode: str, value: float = 0.0) -> Blob:
    """Pad the last dims of a tensor by pairs of sizes, before and after each dim.

    ncnn's Padding pads up to three of a blob's dims, from the innermost out; further ones are
    padded one by one, as the rows of a blob. Negative sizes cut.
    """
    if mode not in (*MODES, "circular"):
        op.refuse(f"padding mode {mode}", "use zeros, constant, reflect, replicate or circular")
    if any(size < 0 for pair in pads for size in pair):
        if mode in ("reflect", "circular"):
            op.refuse("pads by negative sizes", "slice the tensor instead")
        x, pads = _cut(op, x, pads)
    if mode == "circular":
        return _wrapped(op, x, pads)
    while pads and pads[0] == (0, 0):
        pads = pads[1:]
    shape = list(x.shape)
    kind = {"type": MODES[mode], "value": value}
    first = x.rank - len(pads)
    x = op.free(x, *range(first, x.rank))
    if inner := pads[-3:]:
        for place, pair in enumerate(reversed(inner), start=1):
            shape[-place] = total((shape[-place], *pair))
        sides = {
            name: size
            for names, pair in zip(SIDES[-len(inner) :], inner, strict=True)
            for name, size in zip(names, pair, strict=True)
        }
        x = op.emit(PADDING(**sides, **kind), x, shape=tuple(shape))
    for axis, (before, after) in reversed(list(enumerate(pads[:-3], start=first))):
        rows = (product(shape[:axis]), shape[axis], product(shape[axis + 1 :]))
        x = op.view(x, rows, None)
        shape[axis] = total((shape[axis], before, after))
        rows = (rows[0], shape[axis], rows[2])
        x = op.emit(PADDING(top=before, bottom=after, left=0, right=0, **kind), x, shape=rows)
        x = op.view(x, tuple(shape), None)
    return x


def _cut(op: Op, x: Blob, pads: Pads) -> tuple[Blob, Pads]:
    """A tensor without what negative sizes cut off, and the sizes that are left."""
    parts = [
        Part(dim, max(-before, 0), op.size(x, dim) - max(-after, 0))
        for dim, (before, after) in enumerate(pads, start=x.rank - len(pads))
        if min(before, after) < 0
    ]
    if min(sizes_of(x, parts)) <= 0:
        op.refuse("pads to nothing")
    return cropped(op, x, parts), [(max(before, 0), max(after, 0)) for before, after in pads]


def _wrapped(op: Op, x: Blob, pads: Pads) -> Blob:
    """The end of each dim before it, and its start behind it."""
    for dim, (before, after) in enumerate(pads, start=x.rank - len(pads)):
        size = op.size(x, dim) if before or after else 0
        ends = [Part(dim, size - before, size), Part(dim, 0, size), Part(dim, 0, after)]
        pieces = [cropped(op, x, [part]) for part in ends if part.start != part.end]
        x = concatenated(op, pieces, dim) if pieces else x
    return x
