"""Pooling of one to three dims: windows, adaptive and global."""

from __future__ import annotations

from converter.ir import Param, Shape
from converter.ncnn.arithmetic import MUL, binary, unary
from converter.ncnn.blob import Blob
from converter.ncnn.layers import POOLING, POOLING_1D, POOLING_3D, Layer
from converter.ncnn.op import FIX, Op
from converter.ncnn.padding import pad
from converter.ncnn.registry import images, ncnn
from converter.ncnn.slicing import Part, cropped

LAYERS: dict[int, Layer] = {1: POOLING_1D, 2: POOLING, 3: POOLING_3D}
AXES = {1: "w", 2: "hw", 3: "dhw"}
SIDES = {"w": "left", "h": "top", "d": "front"}
MAX, AVERAGE = 0, 1
KEPT = -233
"""What ncnn takes for a dim that adaptive pooling leaves as it is."""


def _spatial(op: Op) -> int:
    return int(op.type[-2])


@ncnn("nn.MaxPool1d", "F.max_pool1d", batch=images(1))
@ncnn("nn.MaxPool2d", "F.max_pool2d", batch=images(2))
@ncnn("nn.MaxPool3d", "F.max_pool3d", batch=images(3))
def max_pool(op: Op) -> list[Blob]:
    spatial = _spatial(op)
    if op.integers("dilation", spatial) != (1,) * spatial:
        op.refuse("dilation is not expressible in ncnn")
    return op.values(_windows(op, MAX, op.images(spatial), op.integers("padding", spatial), False))


@ncnn("nn.AvgPool1d", "F.avg_pool1d", batch=images(1))
@ncnn("nn.AvgPool2d", "F.avg_pool2d", batch=images(2))
@ncnn("nn.AvgPool3d", "F.avg_pool3d", batch=images(3))
def avg_pool(op: Op) -> Blob:
    spatial = _spatial(op)
    x, pads = op.images(spatial), op.integers("padding", spatial)
    counts_pad = op.flag("count_include_pad", True)
    divisor = op.params.get("divisor_override")
    if divisor is not None:
        return _divided(op, x, pads, op.integer("divisor_override"))
    if counts_pad and op.flag("ceil_mode"):
        # Windows count the padding but not what ceil_mode adds after it: pad by a layer.
        x = pad(op, x, [(size, size) for size in pads], "constant")
        pads, counts_pad = (0,) * spatial, False
    return _windows(op, AVERAGE, x, pads, counts_pad)


def _divided(op: Op, x: Blob, pads: tuple[int, ...], divisor: int) -> Blob:
    """A sum over windows divided by one number, from averages that count the padding."""
    if op.flag("ceil_mode"):
        op.refuse("divisor_override with ceil_mode is not expressible in ncnn")
    size = 1
    for side in op.integers("kernel_size", _spatial(op)):
        size *= side
    return binary(op, MUL, _windows(op, AVERAGE, x, pads, True), size / divisor)


@ncnn("nn.LPPool1d", "F.lp_pool1d", batch=images(1))
@ncnn("nn.LPPool2d", "F.lp_pool2d", batch=images(2))
@ncnn("nn.LPPool3d", "F.lp_pool3d", batch=images(3))
def lp_pool(op: Op) -> Blob:
    """sqrt(sum(x²)) over windows, from averages."""
    spatial = _spatial(op)
    if op.number("norm_type") != 2:
        op.refuse(f"norm_type={op.number('norm_type')} is not expressible in ncnn", "use 2")
    squares = unary(op, "square", op.images(spatial))
    size = 1
    for side in op.integers("kernel_size", spatial):
        size *= side
    if op.flag("ceil_mode"):
        op.refuse("ceil_mode of an lp pooling is not expressible in ncnn")
    means = _windows(op, AVERAGE, squares, (0,) * spatial, True)
    return unary(op, "sqrt", binary(op, MUL, means, float(size)))


def _windows(op: Op, kind: int, x: Blob, pads: tuple[int, ...], counts_pad: bool) -> Blob:
    spatial = _spatial(op)
    kernel = op.integers("kernel_size", spatial)
    stride = kernel if op.params.get("stride") in (None, ()) else op.integers("stride", spatial)
    ceil = op.flag("ceil_mode")
    if ceil:
        # ncnn adds too much to what is smaller than a window, where PyTorch cuts the window off.
        kernel = tuple(
            min(k, size + 2 * p) if isinstance(size, int) else k
            for k, size, p in zip(kernel, x.shape[-spatial:], pads, strict=True)
        )
    params: dict[str, Param] = {"pooling_type": kind, "pad_mode": int(not ceil)}
    if kind == AVERAGE:
        params["avgpool_count_include_pad"] = int(counts_pad)
    for axis, *sizes in zip(AXES[spatial], kernel, stride, pads, strict=True):
        names = (f"kernel_{axis}", f"stride_{axis}", f"pad_{SIDES[axis]}")
        params |= zip(names, sizes, strict=True)
    call = LAYERS[spatial](**params)
    # With ceil_mode, PyTorch leaves out windows that start in the padding after the tensor.
    padding = op.integers("padding", spatial) if "padding" in op.params else pads
    if ceil and any(s + p > k for k, s, p in zip(kernel, stride, padding, strict=True)):
        made = [
            -(-(size + 2 * p - k) // s) + 1
            for size, k, s, p in zip(op.sizes(x)[-spatial:], kernel, stride, pads, strict=True)
        ]
        return _first(op, op.emit(call, x, shape=(*x.shape[:-spatial], *made)))
    return op.emit(call, x)


def _first(op: Op, x: Blob) -> Blob:
    """What of the spatial dims the operator's output holds, from their start."""
    if x.shape == op.shape():
        return x
    shape = op.known(op.shape())
    dims = [dim for dim, size in enumerate(shape) if size != x.shape[dim]]
    return cropped(op, x, [Part(dim, 0, shape[dim]) for dim in dims])


@ncnn("nn.AdaptiveMaxPool1d", "F.adaptive_max_pool1d", batch=images(1))
@ncnn("nn.AdaptiveMaxPool2d", "F.adaptive_max_pool2d", batch=images(2))
@ncnn("nn.AdaptiveMaxPool3d", "F.adaptive_max_pool3d", batch=images(3))
def adaptive_max_pool(op: Op) -> list[Blob]:
    return op.values(_adaptive(op, MAX))


@ncnn("nn.AdaptiveAvgPool1d", "F.adaptive_avg_pool1d", batch=images(1))
@ncnn("nn.AdaptiveAvgPool2d", "F.adaptive_avg_pool2d", batch=images(2))
@ncnn("nn.AdaptiveAvgPool3d", "F.adaptive_avg_pool3d", batch=images(3))
def adaptive_avg_pool(op: Op) -> Blob:
    return _adaptive(op, AVERAGE)


def _adaptive(op: Op, kind: int) -> Blob:
    spatial = _spatial(op)
    x, shape = op.images(spatial), op.shape()
    if shape[-spatial:] == (1,) * spatial:
        return _global(op, kind, x, shape)
    sizes = {
        f"out_{axis}": size if isinstance(size, int) else KEPT
        for axis, size in zip(AXES[spatial], shape[-spatial:], strict=True)
    }
    for size, given in zip(shape[-spatial:], x.shape[-spatial:], strict=True):
        if isinstance(size, str) and size != given:
            op.refuse(f"the size {size} is no constant, and not that of its input", FIX)
    return op.emit(LAYERS[spatial](pooling_type=kind, adaptive_pooling=1, **sizes), x)


def _global(op: Op, kind: int, x: Blob, shape: Shape) -> Blob:
    """ncnn drops the dims that global pooling reduces."""
    spatial = _spatial(op)
    call = LAYERS[spatial](pooling_type=kind, global_pooling=1)
    return op.view(op.emit(call, x, shape=shape[:-spatial]), shape, x.batch)
