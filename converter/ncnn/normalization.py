"""Normalizations over channels, groups, positions and inner dims."""

from __future__ import annotations

import math

import numpy as np

from converter.ir import Attribute, Operator
from converter.ncnn.arithmetic import ADD, MUL, binary
from converter.ncnn.blob import Blob
from converter.ncnn.layers import (
    BATCH_NORM,
    GROUP_NORM,
    INSTANCE_NORM,
    LAYER_NORM,
    LRN,
    RMS_NORM,
    Layer,
)
from converter.ncnn.op import Op
from converter.ncnn.registry import ncnn

FP32_EPSILON = 2.0**-23
"""What PyTorch's RMS norm takes for `eps=None`."""


def channels(op: Operator) -> int | None:
    """Axis 0 is the batch where there are channels behind it."""
    shape = op.inputs[0].shape
    return 0 if shape is not None and len(shape) >= 2 else None


def _weight(op: Op, name: str, index: int) -> Attribute | None:
    """A stored weight: of a module, or a constant that is an input of a function."""
    if op.type.startswith("nn.") or name in op.attrs:
        return op.attrs.get(name)
    blob = op.argument(name, index)
    if blob is not None and blob.values is None:
        op.refuse(f"its {name} is an input", f"make the {name} a parameter of a module")
    return None if blob is None else blob.values


def _filled(op: Op, values: Attribute | None, count: int, value: float) -> Attribute:
    if values is not None:
        return values
    return op.made((count,), lambda: np.full(count, value, np.float32))


@ncnn("nn.BatchNorm1d", "nn.BatchNorm2d", "nn.BatchNorm3d", "F.batch_norm", batch=channels)
def batch_norm(op: Op) -> Blob:
    op.expect("training", False)
    x = op.blob()
    mean, var = _weight(op, "running_mean", 1), _weight(op, "running_var", 2)
    weight, bias = _weight(op, "weight", 3), _weight(op, "bias", 4)
    if mean is None or var is None:
        op.refuse("has no running statistics", "set track_running_stats=True")
    return _running(op, op.lay(x, 0), mean, var, weight, bias)


def _running(
    op: Op,
    x: Blob,
    mean: Attribute,
    var: Attribute,
    weight: Attribute | None,
    bias: Attribute | None,
) -> Blob:
    call = BATCH_NORM(
        channels=mean.size,
        eps=op.number("eps", 1e-5),
        slope=_filled(op, weight, mean.size, 1.0),
        mean=mean,
        var=var,
        bias=_filled(op, bias, mean.size, 0.0),
    )
    return op.emit(call, x)


def instances(op: Operator) -> int | None:
    """Axis 0 is the batch, unless a module of n dims was given n + 1."""
    shape = op.inputs[0].shape
    spatial = int(op.type[-2]) if op.type.startswith("nn.") else 1
    return 0 if shape is not None and len(shape) >= spatial + 2 else None


@ncnn("nn.InstanceNorm1d", "nn.InstanceNorm2d", "nn.InstanceNorm3d", batch=instances)
@ncnn("F.instance_norm", batch=instances)
def instance_norm(op: Op) -> Blob:
    op.expect("use_input_stats", True)
    x = op.lay(op.blob(), instances(op.operator))
    mean, var = _weight(op, "running_mean", 1), _weight(op, "running_var", 2)
    weight, bias = _weight(op, "weight", 3), _weight(op, "bias", 4)
    if mean is not None and var is not None:
        if not op.type.startswith("nn."):
            op.refuse("has running statistics, which use_input_stats leaves aside")
        return _running(op, x, mean, var, weight, bias)
    (count,) = op.known(x.dims[:1])
    affine = weight is not None or bias is not None
    params = {
        "channels": count,
        "eps": op.number("eps", 1e-5),
        "affine": int(affine),
        "gamma": _filled(op, weight, count, 1.0) if affine else None,
        "beta": _filled(op, bias, count, 0.0) if affine else None,
    }
    if len(x.dims) == 2:  # which InstanceNorm does not take; a group of one channel is the same
        return op.emit(GROUP_NORM(group=count, **params), x)
    return op.emit(INSTANCE_NORM(**params), x)


@ncnn("nn.GroupNorm", "F.group_norm", batch=channels)
def group_norm(op: Op) -> Blob:
    x = op.lay(op.blob(), 0)
    (count,) = op.known(x.dims[:1])
    weight, bias = _weight(op, "weight", 1), _weight(op, "bias", 2)
    affine = weight is not None or bias is not None
    call = GROUP_NORM(
        group=op.integer("num_groups"),
        channels=count,
        eps=op.number("eps", 1e-5),
        affine=int(affine),
        gamma=_filled(op, weight, count, 1.0) if affine else None,
        beta=_filled(op, bias, count, 0.0) if affine else None,
    )
    return op.emit(call, x)


@ncnn("nn.LayerNorm", "F.layer_norm")
def layer_norm(op: Op) -> Blob:
    weight, bias = _weight(op, "weight", 1), _weight(op, "bias", 2)
    affine = weight is not None or bias is not None
    size = math.prod(op.integers("normalized_shape"))
    weights = {
        "gamma": _filled(op, weight, size, 1.0) if affine else None,
        "beta": _filled(op, bias, size, 0.0) if affine else None,
    }
    if size == 1:
        return _of_one(op, bias)
    return _inner(op, LAYER_NORM, op.number("eps", 1e-5), affine, weights)


def _of_one(op: Op, bias: Attribute | None) -> Blob:
    """One number is its own mean, and leaves 0: ncnn's layer leaves rounding that eps magnifies."""
    zeros = binary(op, MUL, op.blob(), 0.0)
    return zeros if bias is None else binary(op, ADD, zeros, op.constant(bias))


@ncnn("nn.RMSNorm", "F.rms_norm")
def rms_norm(op: Op) -> Blob:
    weight = _weight(op, "weight", 1)
    eps = FP32_EPSILON if op.params.get("eps") is None else op.number("eps")
    return _inner(op, RMS_NORM, eps, weight is not None, {"gamma": weight})


def _inner(
    op: Op, layer: Layer, eps: float, affine: bool, weights: dict[str, Attribute | None]
) -> Blob:
    """Normalize the last dims, viewed as one: the layer takes the last dim of a blob."""
    sizes = op.integers("normalized_shape")
    size = math.prod(sizes)
    first = op.blob().rank - len(sizes)
    x = op.free(op.blob(), *range(first, op.blob().rank))
    flat = (*x.shape[:first], size)
    inner = x if len(sizes) == 1 else op.view(x, flat, x.batch)
    call = layer(affine_size=size, eps=eps, affine=int(affine), **weights)
    return op.view(op.emit(call, inner, shape=flat), x.shape, x.batch)


@ncnn("nn.LocalResponseNorm", "F.local_response_norm", batch=channels)
def local_response_norm(op: Op) -> Blob:
    """ncnn's LRN takes blobs of channels, rows and columns."""
    x = op.lay(op.blob(), 0)
    batch, count, *spatial = op.sizes(x)
    image = op.view(x, (batch, count, *spatial[:1], math.prod(spatial[1:])), 0)
    call = LRN(
        region_type=0,
        local_size=op.integer("size"),
        alpha=op.number("alpha", 1e-4),
        beta=op.number("beta", 0.75),
        bias=op.number("k", 1.0),
    )
    return op.view(op.emit(call, image, shape=image.shape), x.shape, 0)
