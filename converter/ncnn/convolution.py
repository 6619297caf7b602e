"""Convolutions and transposed convolutions of one to three dims.

ncnn's weights lie as PyTorch's, (out, in / groups, d, h, w), those of transposed ones too, where
PyTorch has (in, out / groups, d, h, w). Weights that are inputs, of one or two dims, lie as they do
in PyTorch.
"""

from __future__ import annotations

import math

from converter.ir import Attribute, Operator, Param
from converter.ncnn.blob import Blob
from converter.ncnn.graph import reshaped
from converter.ncnn.layers import (
    CONVOLUTION,
    CONVOLUTION_1D,
    CONVOLUTION_3D,
    CONVOLUTION_DEPTHWISE,
    CONVOLUTION_DEPTHWISE_1D,
    CONVOLUTION_DEPTHWISE_3D,
    DECONVOLUTION,
    DECONVOLUTION_1D,
    DECONVOLUTION_3D,
    DECONVOLUTION_DEPTHWISE,
    DECONVOLUTION_DEPTHWISE_1D,
    DECONVOLUTION_DEPTHWISE_3D,
    DEFORMABLE_CONV_2D,
    Layer,
)
from converter.ncnn.linear import linear
from converter.ncnn.op import Op
from converter.ncnn.padding import pad
from converter.ncnn.registry import images, ncnn
from converter.ncnn.shape import permute

CONVOLUTIONS = {
    1: (CONVOLUTION_1D, CONVOLUTION_DEPTHWISE_1D),
    2: (CONVOLUTION, CONVOLUTION_DEPTHWISE),
    3: (CONVOLUTION_3D, CONVOLUTION_DEPTHWISE_3D),
}
DECONVOLUTIONS = {
    1: (DECONVOLUTION_1D, DECONVOLUTION_DEPTHWISE_1D),
    2: (DECONVOLUTION, DECONVOLUTION_DEPTHWISE),
    3: (DECONVOLUTION_3D, DECONVOLUTION_DEPTHWISE_3D),
}
AXES = {1: "w", 2: "hw", 3: "dhw"}
SIDES = {"d": ("front", "behind"), "h": ("top", "bottom"), "w": ("left", "right")}


def _spatial(op: Op | Operator) -> int:
    return int(op.type[-2])


@ncnn("nn.Conv1d", "F.conv1d", batch=images(1))
@ncnn("nn.Conv2d", "F.conv2d", batch=images(2))
@ncnn("nn.Conv3d", "F.conv3d", batch=images(3))
def conv(op: Op) -> Blob:
    spatial = _spatial(op)
    x = op.images(spatial)
    weight, bias = _weight(op), _bias(op)
    groups = op.integer("groups", 1)
    shape = op.known(weight.shape)
    dilation = op.integers("dilation", spatial)
    pads = _padding(op, spatial, shape[2:], dilation)
    if _is_pixel(x, weight, groups, bias) and not any(map(any, pads)):
        return _of_pixel(op, x, weight, bias)
    mode = op.params.get("padding_mode", "zeros")
    if mode != "zeros":
        x = pad(op, x, pads, op.text("padding_mode"))
        pads = [(0, 0)] * spatial
    return _emit(
        op,
        CONVOLUTIONS[spatial][groups > 1],
        x,
        weight,
        bias,
        num_output=shape[0],
        **_axes("kernel", shape[2:]),
        **_axes("dilation", dilation),
        **_axes("stride", op.integers("stride", spatial)),
        **_pads(pads),
        **({"group": groups} if groups > 1 else {}),
    )


def _is_pixel(x: Blob, weight: Blob, groups: int, bias: Blob | None) -> bool:
    """Whether all is channels, as after a global pooling."""
    stored = weight.values is not None and (bias is None or bias.values is not None)
    return groups == 1 and stored and {*weight.shape[2:], *x.dims[1:]} == {1}


def _of_pixel(op: Op, x: Blob, weight: Blob, bias: Blob | None) -> Blob:
    """A convolution of one pixel by one: a linear map of its channels."""
    assert weight.values is not None
    sizes = weight.values.shape
    channels = op.view(x, x.shape[: x.rank - len(sizes) + 2], x.batch)
    rows = reshaped(weight.values, sizes[:2])
    y = linear(op, channels, rows, None if bias is None else bias.values)
    return op.view(y, op.shape(), x.batch)


@ncnn("nn.ConvTranspose1d", "F.conv_transpose1d", batch=images(1))
@ncnn("nn.ConvTranspose2d", "F.conv_transpose2d", batch=images(2))
@ncnn("nn.ConvTranspose3d", "F.conv_transpose3d", batch=images(3))
def conv_transpose(op: Op) -> Blob:
    spatial = _spatial(op)
    x = op.images(spatial)
    weight, bias = _weight(op), _bias(op)
    groups = op.integer("groups", 1)
    shape = op.known(weight.shape)
    extra = op.integers("output_padding", spatial)
    names = {"w": "output_pad_right", "h": "output_pad_bottom", "d": "output_pad_behind"}
    return _emit(
        op,
        DECONVOLUTIONS[spatial][groups > 1],
        x,
        weight if weight.values is None else _transposed(op, weight, groups),
        bias,
        num_output=shape[1] * groups,
        **_axes("kernel", shape[2:]),
        **_axes("dilation", op.integers("dilation", spatial)),
        **_axes("stride", op.integers("stride", spatial)),
        **_pads([(size, size) for size in op.integers("padding", spatial)]),
        **{names[axis]: size for axis, size in zip(AXES[spatial], extra, strict=True)},
        **({"group": groups} if groups > 1 else {}),
    )


@ncnn("torchvision.ops.DeformConv2d", batch=images(2))
def deformable_conv(op: Op) -> Blob:
    """A convolution of an image at moved places, with an offset for each and perhaps a mask."""
    op.expect("groups", 1)
    weight = op.attr("weight")
    shape = weight.shape
    inputs = [op.images(2, index) for index in range(op.count)]
    if inputs[1].shape[1] != 2 * shape[2] * shape[3]:
        op.refuse("offset groups are not expressible in ncnn", "use one")
    call = DEFORMABLE_CONV_2D(
        num_output=shape[0],
        bias_term=int(op.flag("bias")),
        weight_data_size=weight.size,
        weight=weight,
        bias=op.attr("bias") if op.flag("bias") else None,
        **_axes("kernel", shape[2:]),
        **_axes("dilation", op.integers("dilation", 2)),
        **_axes("stride", op.integers("stride", 2)),
        **_pads([(size, size) for size in op.integers("padding", 2)]),
    )
    return op.emit(call, *inputs)


def _emit(op: Op, layer: Layer, x: Blob, weight: Blob, bias: Blob | None, **params: Param) -> Blob:
    """Make the layer, with weights in the `.bin` or, where they are computed, as inputs."""
    if weight.values is not None and (bias is None or bias.values is not None):
        stored: dict[str, Param | Attribute] = {
            "weight_data_size": weight.values.size,
            "bias_term": int(bias is not None),
            "weight": weight.values,
            "bias": None if bias is None else bias.values,
        }
        return op.emit(layer(**params, **stored), x)
    if "dynamic_weight" not in layer.slots:
        op.refuse("its weight is an input", "make the weight a parameter of the module")
    inputs = [x, op.lay(weight, None)]
    if bias is not None:
        inputs.append(op.lay(bias, None))
    return op.emit(layer(**params, dynamic_weight=1, bias_term=int(bias is not None)), *inputs)


def _weight(op: Op) -> Blob:
    return op.constant(op.attrs["weight"]) if "weight" in op.attrs else op.need("weight", 1)


def _bias(op: Op) -> Blob | None:
    if op.type.startswith("nn."):
        return op.constant(op.attr("bias")) if op.flag("bias", True) else None
    return op.argument("bias", 2)


def _padding(
    op: Op, spatial: int, kernel: tuple[int, ...], dilation: tuple[int, ...]
) -> list[tuple[int, int]]:
    """Before and after each spatial dim. What `same` lacks for symmetry goes after."""
    padding = op.params.get("padding")
    if padding == "valid":
        return [(0, 0)] * spatial
    if padding == "same":
        totals = [(size - 1) * step for size, step in zip(kernel, dilation, strict=True)]
        return [(total // 2, total - total // 2) for total in totals]
    return [(size, size) for size in op.integers("padding", spatial)]


def _axes(name: str, sizes: tuple[int, ...]) -> dict[str, Param]:
    """`kernel_h=3, kernel_w=3` of (3, 3)."""
    return {f"{name}_{axis}": size for axis, size in zip(AXES[len(sizes)], sizes, strict=True)}


def _pads(pads: list[tuple[int, int]]) -> dict[str, Param]:
    """`pad_top=1, pad_left=1`, and the other sides where they are not equal to those."""
    params: dict[str, Param] = {}
    for axis, (before, after) in zip(AXES[len(pads)], pads, strict=True):
        params[f"pad_{SIDES[axis][0]}"] = before
        if any(low != high for low, high in pads):
            params[f"pad_{SIDES[axis][1]}"] = after
    return params


def _transposed(op: Op, weight: Blob, groups: int) -> Blob:
    """(in, out / groups, …) as (out, in / groups, …), group by group."""
    inputs, outputs, *kernel = op.sizes(weight)
    weight = op.view(weight, (groups, inputs // groups, outputs, math.prod(kernel)), None)
    turned = permute(op, weight, (0, 2, 1, 3))
    return op.view(turned, (groups * outputs, inputs // groups, *kernel), None)
