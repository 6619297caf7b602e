"""Fold a batch-norm into the convolution or linear layer before it."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from converter.ir import DTYPES, Array, Attribute, Graph, Operator
from converter.passes.pattern import Match, PatternPass

CHANNEL_DIM = {
    "nn.Conv1d": 0,
    "nn.Conv2d": 0,
    "nn.Conv3d": 0,
    "nn.Linear": 0,
    "nn.ConvTranspose1d": 1,
    "nn.ConvTranspose2d": 1,
    "nn.ConvTranspose3d": 1,
}
"""Where each layer's weight holds its output channels."""


class FuseBatchNorm(PatternPass):
    """Before: `nn.Conv2d x -> a`, `nn.BatchNorm2d a -> y`. After: `nn.Conv2d x -> y`.

    With s = gamma / sqrt(var + eps): weight' = weight * s, bias' = (bias - mean) * s + beta
    (Jacob et al., "Quantization and Training of Neural Networks", 2018, section 3.2).
    """

    changes_arithmetic: ClassVar[bool] = True
    pattern = f"""
        pnnx.Input      x    0 1 x
        {"|".join(CHANNEL_DIM)} layer 1 1 x a
        nn.BatchNorm1d|nn.BatchNorm2d|nn.BatchNorm3d bn 1 1 a out
        pnnx.Output     out  1 0 out
    """

    def rewrite(self, graph: Graph, match: Match) -> bool:
        layer, bn = match["layer"], match["bn"]
        if not fits(layer, bn):
            return False
        fold(layer, bn)
        out = match.operands["out"]
        fused = match.operands["a"]
        fused.dtype, fused.shape = out.dtype, out.shape
        graph.replace_uses(out, fused)
        graph.remove(bn)
        return True


def fits(layer: Operator, bn: Operator) -> bool:
    """A linear layer's channels are its last dim, a batch-norm's the second: equal for rank 2.

    A convolution without a batch has them in the first.
    """
    weight, shape = layer.attrs["weight"], layer.outputs[0].shape
    dtypes = {attribute.dtype for attribute in (*layer.attrs.values(), *bn.attrs.values())}
    return (
        dtypes in ({"f32"}, {"f64"})
        and shape is not None
        and len(shape) == len(weight.shape)
        and weight.is_quick
        and bn.attrs.keys() >= {"running_mean", "running_var"}
    )


def fold(layer: Operator, bn: Operator) -> None:
    """Work out the new weight and bias, in double precision but for the large product."""
    weight = layer.attrs["weight"]
    dtype = DTYPES[weight.dtype]
    given = {name: wide(attribute) for name, attribute in bn.attrs.items()}
    eps = bn.params["eps"]
    assert isinstance(eps, int | float)
    scale = given.get("weight", np.float64(1)) / np.sqrt(given["running_var"] + eps)
    bias = wide(layer.attrs["bias"]) if "bias" in layer.attrs else np.float64(0)
    shifted = (bias - given["running_mean"]) * scale + given.get("bias", np.float64(0))
    layer.attrs["weight"] = scaled(weight, layer, scale.astype(dtype))
    layer.attrs["bias"] = Attribute.of(shifted.astype(dtype))
    layer.params["bias"] = True


def wide(attribute: Attribute) -> Array:
    return attribute.array().astype(np.float64)


def scaled(weight: Attribute, layer: Operator, scale: Array) -> Attribute:
    """The weight times `scale` along its output channels, worked out when it is written."""
    groups = layer.params.get("groups", 1)
    assert isinstance(groups, int)
    transposed = CHANNEL_DIM[layer.type] == 1

    def values() -> Array:
        source = weight.array()
        if not transposed:
            return source * scale.reshape(-1, *[1] * (source.ndim - 1))
        # A transposed convolution's weight is (in, out / groups, ...): one block of `in` per group.
        blocks = source.reshape(groups, source.shape[0] // groups, *source.shape[1:])
        per_group = scale.reshape(groups, 1, -1, *[1] * (source.ndim - 2))
        return (blocks * per_group).reshape(source.shape)

    return Attribute.later(weight.dtype, weight.shape, values, [weight])
