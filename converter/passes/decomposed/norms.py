"""Normalizations, distances and lengths that decompositions spell out."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from converter.ir import Attribute, Graph, Param
from converter.passes.decomposed.base import Decomposed
from converter.passes.pattern import Match, PatternPass
from converter.passes.terms import static_shape

RMS = """
    pnnx.Expression pow   1 1 input a expr=pow(@0,2)
    torch.mean      mean  1 1 a b dim=%dim keepdim=True
    pnnx.Expression add   1 1 b c expr=add(@0,%eps)
    pnnx.Expression root  1 1 c d expr=rsqrt(@0)
"""
RMS_NORM = f"""{RMS.rstrip()}
    pnnx.Expression last  2 1 input d out expr=mul(@0,@1)
"""
RMS_NORM_WEIGHT = f"""{RMS.rstrip()}
    pnnx.Expression scale 2 1 input d e expr=mul(@0,@1)
    pnnx.Expression last  2 1 e weight out expr=mul(@0,@1)
"""
DISTANCE = """
    pnnx.Expression sub   2 1 x1 x2 a expr=sub(@0,@1)
    pnnx.Expression add   1 1 a b expr=add(@0,%eps)
    torch.norm      last  1 1 b out p=%p dim=%dim keepdim=%keepdim
"""
INSTANCE_NORM = """
    Tensor.reshape  join  1 1 input a
    F.batch_norm    norm  {count} 1 a {weights} b eps=%eps
    Tensor.reshape  last  1 1 b out
"""
EPSILON = {"f32": 2.0**-23, "f64": 2.0**-52, "f16": 2.0**-10, "bf16": 2.0**-7}
"""The eps of an RMS norm that is given none."""


class RMSNorm(Decomposed):
    """Before: `x * rsqrt(mean(x ** 2) + eps) * w` over the last dims. After: `F.rms_norm x w`."""

    def rewrite(self, graph: Graph, match: Match) -> bool:
        x, dims, eps = match.operands["input"], match.captured.pop("dim"), match.captured["eps"]
        shape = static_shape(x)
        if shape is None or not isinstance(dims, tuple):
            return False
        last = len(shape) - len(dims)
        weight = match.operands.get("weight")
        if set(dims) != set(range(last, len(shape))) or (weight and weight.shape != shape[last:]):
            return False
        if eps == EPSILON.get(str(x.dtype)):
            match.captured["eps"] = None
        match.captured["normalized_shape"] = shape[last:]
        return super().rewrite(graph, match)


class Distance(Decomposed):
    """Before: `norm(x1 - x2 + eps)` over the last dim. After: `F.pairwise_distance x1 x2`."""

    def rewrite(self, graph: Graph, match: Match) -> bool:
        rank = len(match["last"].inputs[0].shape or ())
        return match.captured.pop("dim") == (rank - 1,) and super().rewrite(graph, match)


class InstanceNorm(Decomposed):
    """Before: a batch-norm of channels that are joined with the batch, its weights repeated.

    After: `F.instance_norm`.
    """

    def rewrite(self, graph: Graph, match: Match) -> bool:
        norm, op, names = match["norm"], match["last"], self.inputs[1:]
        shape, joined = map(static_shape, (match.operands["input"], match.operands["a"]))
        if op.origin != self.origin or shape is None or len(shape) < 3:
            return False
        if joined != (1, shape[0] * shape[1], *shape[2:]) or op.outputs[0].shape != shape:
            return False
        by_input = norm.params.get("training") is True
        if tuple(norm.input_names[1:]) != names or by_input != ("running_mean" not in names):
            return False
        weights = list(stored(match, names, shape[1]))
        if len(weights) < len(names):
            return False
        operands = [match.operands["input"]]
        for name, attribute in zip(names, weights, strict=True):
            given = graph.fresh(f"{op.name}_{name}", attribute.shape, attribute.dtype)
            graph.add(
                "pnnx.Attribute", given.name, (), [given], attrs={"data": attribute}, before=op
            )
            operands.append(given)
        given_none = ("running_mean", "running_var", "weight", "bias")
        params: dict[str, Param] = {name: None for name in given_none if name not in names}
        op.params = {**params, "eps": match.captured["eps"]}
        op.params |= {} if by_input else {"use_input_stats": False}
        op.type = self.function
        graph.set_inputs(op, operands, self.inputs)
        return True


def stored(match: Match, names: tuple[str, ...], channels: int) -> Iterator[Attribute]:
    """The stored weights for the channels of one element of the batch."""
    for name in names:
        attribute = match.operands[name].stored
        if attribute is None or len(attribute.shape) != 1:
            return
        if attribute.size == channels:
            yield attribute
            continue
        rows = attribute.array().reshape(-1, channels)
        if np.any(rows != rows[0]):
            return
        yield Attribute.of(rows[0])


def instance_norm(*weights: str) -> InstanceNorm:
    pattern = INSTANCE_NORM.format(count=1 + len(weights), weights=" ".join(weights))
    return InstanceNorm("instance_norm", "F.instance_norm", pattern, ("input", *weights))


STATISTICS = ("running_mean", "running_var")
AFFINES = (("weight", "bias"), ("weight",), ("bias",))

NORMS: tuple[PatternPass, ...] = (
    RMSNorm("rms_norm", "F.rms_norm", RMS_NORM_WEIGHT, ("input", "weight")),
    RMSNorm("rms_norm", "F.rms_norm", RMS_NORM, weight=None),
    Distance("pairwise_distance", "F.pairwise_distance", DISTANCE, ("x1", "x2")),
    instance_norm(),
    *(instance_norm(*affine) for affine in AFFINES),
    instance_norm(*STATISTICS),
    *(instance_norm(*STATISTICS, *affine) for affine in AFFINES),
)
