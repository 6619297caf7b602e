"""Make modules of functions whose weights the model stores: `F.conv2d` becomes `nn.Conv2d`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from converter.ir import Attribute, Graph, Operand, Operator, Param
from converter.passes.base import Pass

Weights = Mapping[str, Attribute]
Module = tuple[str, dict[str, Param]]
Recovery = Callable[[Operator, Weights], Module | None]

RECOVERIES: dict[str, tuple[tuple[str, ...], Recovery]] = {}
"""By function: the names of its weights, and what makes a module of them."""


class StoredWeights(Pass):
    """Before: `pnnx.Attribute -> w`, `F.linear x w -> y`. After: `nn.Linear x -> y` with w."""

    def run(self, graph: Graph) -> int:
        return sum(recover(graph, op) for op in graph.of_type(*RECOVERIES))


def recover(graph: Graph, op: Operator) -> bool:
    """Make a module of one operator; False where a weight is not stored, or none would fit."""
    names, recovery = RECOVERIES[op.type]
    weights: dict[str, Attribute] = {}
    others: list[Operand] = []
    for name, operand in zip(op.input_names, op.inputs, strict=True):
        attribute = operand.stored if name in names else None
        if attribute is not None:
            weights[name] = attribute
        elif name in names:
            return False
        else:
            others.append(operand)
    module = recovery(op, weights) if weights else None
    if module is None:
        return False
    op.type, op.params = module
    op.attrs = dict(weights)
    if op.module is not None and op.module[1].rpartition(".")[2] == op.type.rpartition(".")[2]:
        op.name = op.module[0]
    graph.set_inputs(op, others)
    return True


def recovers(function: str, *weights: str) -> Callable[[Recovery], Recovery]:
    def decorate(recovery: Recovery) -> Recovery:
        RECOVERIES[function] = (weights, recovery)
        return recovery

    return decorate


def rank(op: Operator) -> int | None:
    shape = op.inputs[0].shape
    return None if shape is None else len(shape)


def affine(op: Operator, weights: Weights) -> bool | None:
    """Whether weight and bias are both there, or neither; None where a module cannot say it."""
    both = ("weight" in weights, "bias" in weights)
    return both[0] if both[0] == both[1] else None


def convolution(dims: int) -> None:
    @recovers(f"F.conv{dims}d", "weight", "bias")
    def conv(op: Operator, weights: Weights) -> Module | None:
        if "weight" not in weights:
            return None
        out_channels, per_group, *kernel = weights["weight"].shape
        groups = op.params["groups"]
        assert isinstance(groups, int)
        return f"nn.Conv{dims}d", {
            "bias": "bias" in weights,
            "dilation": op.params["dilation"],
            "groups": groups,
            "in_channels": per_group * groups,
            "kernel_size": tuple(kernel),
            "out_channels": out_channels,
            "padding": op.params["padding"],
            "padding_mode": "zeros",
            "stride": op.params["stride"],
        }

    @recovers(f"F.conv_transpose{dims}d", "weight", "bias")
    def conv_transpose(op: Operator, weights: Weights) -> Module | None:
        if "weight" not in weights:
            return None
        in_channels, per_group, *kernel = weights["weight"].shape
        groups = op.params["groups"]
        assert isinstance(groups, int)
        return f"nn.ConvTranspose{dims}d", {
            "bias": "bias" in weights,
            "dilation": op.params["dilation"],
            "groups": groups,
            "in_channels": in_channels,
            "kernel_size": tuple(kernel),
            "out_channels": per_group * groups,
            "output_padding": op.params["output_padding"],
            "padding": op.params["padding"],
            "stride": op.params["stride"],
        }


for dims in (1, 2, 3):
    convolution(dims)


@recovers("F.linear", "weight", "bias")
def linear(op: Operator, weights: Weights) -> Module | None:
    if "weight" not in weights or len(weights["weight"].shape) != 2:
        return None
    out_features, in_features = weights["weight"].shape
    return "nn.Linear", {
        "bias": "bias" in weights,
        "in_features": in_features,
        "out_features": out_features,
    }


@recovers("torchvision.ops.deform_conv2d", "weight", "bias")
def deform_conv2d(op: Operator, weights: Weights) -> Module | None:
    shape = op.inputs[0].shape
    if "weight" not in weights or shape is None or not isinstance(shape[1], int):
        return None
    out_channels, per_group, *kernel = weights["weight"].shape
    return "torchvision.ops.DeformConv2d", {
        "bias": "bias" in weights,
        "dilation": op.params["dilation"],
        "groups": shape[1] // per_group,
        "in_channels": shape[1],
        "kernel_size": tuple(kernel),
        "out_channels": out_channels,
        "padding": op.params["padding"],
        "stride": op.params["stride"],
    }


@recovers("F.embedding", "weight")
def embedding(op: Operator, weights: Weights) -> Module | None:
    num_embeddings, embedding_dim = weights["weight"].shape
    return "nn.Embedding", {
        "embedding_dim": embedding_dim,
        "num_embeddings": num_embeddings,
        "sparse": op.params["sparse"],
    }


@recovers("F.prelu", "weight")
def prelu(op: Operator, weights: Weights) -> Module | None:
    return "nn.PReLU", {"num_parameters": weights["weight"].size}


@recovers("F.batch_norm", "running_mean", "running_var", "weight", "bias")
def batch_norm(op: Operator, weights: Weights) -> Module | None:
    has_affine = affine(op, weights)
    dims = {2: 1, 3: 1, 4: 2, 5: 3}.get(rank(op) or 0)
    if has_affine is None or dims is None or not weights.keys() >= {"running_mean", "running_var"}:
        return None
    return f"nn.BatchNorm{dims}d", {
        "affine": has_affine,
        "eps": op.params["eps"],
        "num_features": weights["running_mean"].size,
    }


@recovers("F.instance_norm", "running_mean", "running_var", "weight", "bias")
def instance_norm(op: Operator, weights: Weights) -> Module | None:
    has_affine = affine(op, weights)
    dims = {3: 1, 4: 2, 5: 3}.get(rank(op) or 0)
    tracked = op.params.get("use_input_stats") is False
    if has_affine is None or dims is None or tracked != ("running_mean" in weights):
        return None
    return f"nn.InstanceNorm{dims}d", {
        "affine": has_affine,
        "eps": op.params["eps"],
        "num_features": next(iter(weights.values())).size,
        "track_running_stats": tracked,
    }


@recovers("F.group_norm", "weight", "bias")
def group_norm(op: Operator, weights: Weights) -> Module | None:
    if not affine(op, weights):
        return None
    return "nn.GroupNorm", {
        "affine": True,
        "eps": op.params["eps"],
        "num_channels": weights["weight"].size,
        "num_groups": op.params["num_groups"],
    }


@recovers("F.layer_norm", "weight", "bias")
def layer_norm(op: Operator, weights: Weights) -> Module | None:
    if not affine(op, weights):
        return None
    return "nn.LayerNorm", {
        "elementwise_affine": True,
        "eps": op.params["eps"],
        "normalized_shape": op.params["normalized_shape"],
    }


@recovers("F.rms_norm", "weight")
def rms_norm(op: Operator, weights: Weights) -> Module | None:
    return "nn.RMSNorm", {
        "elementwise_affine": True,
        "eps": op.params["eps"],
        "normalized_shape": op.params["normalized_shape"],
    }
