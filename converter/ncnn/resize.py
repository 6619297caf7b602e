"""Resizing of images, and moving of pixels between space and channels."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from converter.dims import product
from converter.ir import Array, Dim, Operator, Param
from converter.ncnn.blob import Blob
from converter.ncnn.joining import NEAREST
from converter.ncnn.layers import (
    FOLD,
    GRID_SAMPLE,
    INTERP,
    PIXEL_SHUFFLE,
    REORG,
    SHUFFLE_CHANNEL,
    UNFOLD,
    LayerCall,
)
from converter.ncnn.linear import matmul
from converter.ncnn.op import Op
from converter.ncnn.registry import images, ncnn
from converter.ncnn.shape import permute

BILINEAR, BICUBIC = 2, 3
MODES = {
    "nearest": NEAREST,
    "linear": BILINEAR,
    "bilinear": BILINEAR,
    "trilinear": BILINEAR,
    "bicubic": BICUBIC,
}
MOST_TRIED, MOST_PLACES = 4096, 1 << 24
"""Up to which dynamic sizes are tried."""

UPSAMPLES = {
    "F.upsample_nearest": ("nearest", False),
    "F.upsample_bilinear": ("bilinear", True),
    "nn.UpsamplingNearest2d": ("nearest", False),
    "nn.UpsamplingBilinear2d": ("bilinear", True),
}


def _first(op: Operator) -> int | None:
    """Axis 0 is the batch of what has channels and spatial dims."""
    return 0


@ncnn("F.interpolate", "F.upsample", "nn.Upsample", *UPSAMPLES, batch=_first)
def interpolate(op: Op) -> Blob:
    mode, corners = UPSAMPLES.get(
        op.type, (op.params.get("mode", "nearest"), bool(op.params.get("align_corners")))
    )
    op.expect("antialias", False, None)
    x = op.lay(op.blob(), 0)
    spatial = x.rank - 2
    if mode == "nearest-exact" and _repeats(op, x):
        mode = "nearest"
    if mode not in MODES or (mode == "bicubic" and spatial != 2):
        op.refuse(f"mode={mode} is not expressible in ncnn", "use nearest, bilinear or bicubic")
    scales = None if corners else _scales(op, x)
    if spatial == 3:
        if scales is not None:
            op.refuse("its scale_factor makes no whole sizes", "give size=")
        return _volume(op, x, MODES[mode], corners)
    params: dict[str, Param] = {"resize_type": MODES[mode], "align_corner": int(corners)}
    if scales is not None:
        scales = tuple(map(partial(_factor, op, mode), scales, x.shape[2:], op.shape()[2:]))
        params |= {"height_scale": scales[0] if spatial == 2 else 1.0, "width_scale": scales[-1]}
        return op.emit(INTERP(**params), x)
    after = op.shape()[2:]
    rows, columns = after[0] if spatial == 2 else 1, after[-1]
    if isinstance(rows, int) and isinstance(columns, int):
        return op.emit(_interp(MODES[mode], rows, columns, corners), x)
    sizes = op.expressions(x)
    call = INTERP(**params, dynamic_target_size=1, size_expr=sizes.write((columns, rows)))
    return op.emit(call, *sizes.read)


def _repeats(op: Op, x: Blob) -> bool:
    """Whether each element is repeated a whole number of times, whichever point of it is meant."""
    factors = op.params.get("scale_factor")
    if isinstance(factors, tuple):
        return all(isinstance(factor, int | float) and factor % 1 == 0 for factor in factors)
    sizes = zip(x.shape[2:], op.shape()[2:], strict=True)
    return all(
        isinstance(old, int) and isinstance(new, int) and not new % old for old, new in sizes
    )


def _scales(op: Op, x: Blob) -> tuple[float, ...] | None:
    """The scale factors where they matter, None where the sizes say the same.

    PyTorch computes positions by the factor that it is given, not by the ratio of the sizes, which
    is another where that is no whole size; so does ncnn. Dynamic sizes are made by the factor too.
    """
    value = op.params.get("scale_factor")
    if value is None or op.params.get("recompute_scale_factor"):
        return None
    given = value if isinstance(value, tuple) else (value,) * (x.rank - 2)
    scales = tuple(float(scale) for scale in given if isinstance(scale, int | float))
    before, after = x.shape[2:], op.shape()[2:]
    whole = True
    for scale, old, new in zip(scales, before, after, strict=True):
        if isinstance(old, int) and isinstance(new, int):
            whole &= math.isclose(scale * old, new, rel_tol=1e-6)
            if not math.isclose(scale * old, new, rel_tol=1e-6) and int(scale * old) != new:
                op.refuse(f"scale_factor={scale} makes {new} of {old}", "give size=")
        else:
            whole = False
    return None if whole else scales


def _factor(op: Op, mode: str, scale: float, old: Dim, new: Dim) -> float:
    """A factor by which ncnn makes as many elements as PyTorch, of the nearest the same ones.

    PyTorch multiplies sizes by the factor, ncnn by the factor rounded to single precision: 27 by
    7 / 3 becomes 63 and 62. To the nearest PyTorch steps by 1 / factor, rounded, ncnn by 1 / the
    rounded factor: where these differ in a last bit, a step that should end at an element ends
    before it. Dynamic sizes are tried one by one.
    """
    sizes = np.array([old]) if isinstance(old, int) else np.arange(1, MOST_TRIED + 1)
    counts = np.array([new]) if isinstance(new, int) else np.floor(sizes * scale)
    if counts.max() > MOST_PLACES:
        op.refuse(f"scale_factor={scale} makes too many elements to compare", "give size=")
    places = np.arange(counts.max(), dtype=np.float32)
    near, step = np.float32(scale), np.float32(1 / scale)
    for ulps in (0, 1, -1, 2, -2):
        factor = near + ulps * np.spacing(near)
        if not np.array_equal(np.floor(sizes.astype(np.float32) * factor), counts):
            continue
        ours = np.float32(1) / factor
        if mode != "nearest" or np.array_equal(np.floor(places * step), np.floor(places * ours)):
            return float(factor)
    return op.refuse(
        f"ncnn makes another size or takes other elements for scale_factor={scale}", "give size="
    )


def _interp(kind: int, rows: int, columns: int, corners: bool) -> LayerCall:
    return INTERP(
        resize_type=kind, output_height=rows, output_width=columns, align_corner=int(corners)
    )


def _volume(op: Op, x: Blob, kind: int, corners: bool) -> Blob:
    """Resize the two inner dims, then the outer one as the rows of an image."""
    batch, count, depth, rows, columns = op.sizes(x)
    *_, new_depth, new_rows, new_columns = op.known(op.shape())
    flat = op.view(x, (batch, count * depth, rows, columns), 0)
    call = _interp(kind, new_rows, new_columns, corners)
    flat = op.emit(call, flat, shape=(batch, count * depth, new_rows, new_columns))
    size = new_rows * new_columns
    flat = op.view(flat, (batch, count, depth, size), 0)
    call = _interp(kind, new_depth, size, corners)
    flat = op.emit(call, flat, shape=(batch, count, new_depth, size))
    return op.view(flat, op.shape(), 0)


@ncnn("nn.PixelShuffle", "F.pixel_shuffle", batch=images(2))
def pixel_shuffle(op: Op) -> Blob:
    call = PIXEL_SHUFFLE(upscale_factor=op.integer("upscale_factor"), mode=0)
    return op.emit(call, op.images(2))


@ncnn("nn.PixelUnshuffle", "F.pixel_unshuffle", batch=images(2))
def pixel_unshuffle(op: Op) -> Blob:
    return op.emit(REORG(stride=op.integer("downscale_factor"), mode=0), op.images(2))


@ncnn("nn.ChannelShuffle", "F.channel_shuffle", batch=_first)
def channel_shuffle(op: Op) -> Blob:
    x = op.lay(op.blob(), 0)
    batch, count, *spatial = x.shape
    image = op.view(x, (batch, count, 1, product(spatial)), 0) if len(spatial) != 2 else x
    call = SHUFFLE_CHANNEL(group=op.integer("groups"), reverse=0)
    return op.view(op.emit(call, image, shape=image.shape), x.shape, 0)


def _windows(op: Op) -> dict[str, int]:
    """The parameters that Fold and Unfold share."""
    names = {"kernel_size": "kernel", "dilation": "dilation", "stride": "stride"}
    params = {}
    for name, ours in names.items():
        params[f"{ours}_h"], params[f"{ours}_w"] = op.integers(name, 2)
    params["pad_top"], params["pad_left"] = op.integers("padding", 2)
    return params


@ncnn("nn.Unfold", "F.unfold", batch=images(2))
def unfold(op: Op) -> Blob:
    return op.emit(UNFOLD(**_windows(op)), op.images(2))


@ncnn("nn.Fold", "F.fold", batch=images(1))
def fold(op: Op) -> Blob:
    height, width = op.integers("output_size", 2)
    return op.emit(FOLD(**_windows(op), output_h=height, output_w=width), op.images(1))


SAMPLES = {"bilinear": 1, "nearest": 2, "bicubic": 3}
BORDERS = {"zeros": 1, "border": 2, "reflection": 3}


@ncnn("F.grid_sample", batch=_first)
def grid_sample(op: Op) -> Blob:
    mode, border = op.text("mode", "bilinear"), op.text("padding_mode", "zeros")
    call = GRID_SAMPLE(
        sample_type=SAMPLES[mode],
        padding_mode=BORDERS[border],
        align_corner=int(op.flag("align_corners")),
        permute_fusion=0,
    )
    return op.emit(call, op.lay(op.need("input", 0), 0), op.lay(op.need("grid", 1), 0))


@ncnn("F.affine_grid")
def affine_grid(op: Op) -> Blob:
    """The points of a regular grid, from -1 to 1 in each dim, moved by matrices."""
    theta, corners = op.need("theta", 0), op.flag("align_corners")
    _, *spatial, _ = op.known(op.shape())

    def points() -> Array:
        lines = [_line(size, corners) for size in spatial]
        return np.stack([*np.meshgrid(*lines, indexing="ij")[::-1], np.ones(spatial)], axis=-1)

    rows = op.made((1, math.prod(spatial), len(spatial) + 1), points)
    moved = matmul(op, op.constant(rows), permute(op, theta, (0, 2, 1)))
    return op.view(moved, op.shape(), op.wanted)


def _line(size: int, corners: bool) -> Array:
    """The middles of as many pixels, or with `corners` from -1 to 1."""
    if size == 1:
        return np.zeros(1)
    return np.linspace(-1, 1, size) * (1 if corners else (size - 1) / size)
