"""Spell functions as the modules that the user wrote: `F.relu` inside an nn.ReLU as `nn.ReLU`.

The archive tells which nn.Module made each operator. It chooses the spelling only: the module's
arguments are those of the function, so that the two compute the same whatever the archive says.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from converter.ir import Graph, Operator, Param
from converter.passes.base import Pass

PREFIXES = {"torch.nn.modules.": "nn", "torchvision.ops.": "torchvision.ops"}
"""Whose modules are spelled, and what pnnx calls their home."""

Params = dict[str, Param]
Convert = Callable[[Operator], Params | None]


class Row(NamedTuple):
    """A module stands for this function, if `params` finds its arguments."""

    function: str
    params: Convert


def keep(*names: str) -> Convert:
    """The function's params of these names, as they are."""
    return lambda op: {name: op.params[name] for name in names}


def all_params(op: Operator) -> Params:
    return dict(op.params)


def pooling(op: Operator) -> Params:
    """A module's stride is its kernel's size where the function says None."""
    params = dict(op.params)
    if params["stride"] is None:
        params["stride"] = params["kernel_size"]
    return params


def lp_pooling(op: Operator) -> Params:
    return {**pooling(op), "norm_type": float(str(op.params["norm_type"]))}


def padding(mode: str, dims: int, *, value: bool = False) -> Convert:
    def convert(op: Operator) -> Params | None:
        pad = op.params["pad"]
        if op.params["mode"] != mode or not isinstance(pad, tuple) or len(pad) != 2 * dims:
            return None
        given = op.params["value"] or 0.0
        if mode == "constant" and not value:
            return {"padding": pad} if given == 0 else None
        return {"padding": pad, "value": given} if value else {"padding": pad}

    return convert


def softmax_2d(op: Operator) -> Params | None:
    return {} if op.params["dim"] == -3 else None


def upsample(op: Operator) -> Params:
    params = dict(op.params)
    params.setdefault("mode", "nearest")
    if "scale_factor" in params:
        params["size"] = None
    return params


def upsampling(mode: str) -> Convert:
    """`nn.UpsamplingBilinear2d` aligns corners, always."""

    def convert(op: Operator) -> Params | None:
        if op.params.get("mode", "nearest") != mode:
            return None
        if mode == "bilinear" and op.params["align_corners"] is not True:
            return None
        params = {k: v for k, v in op.params.items() if k in ("size", "scale_factor")}
        if "scale_factor" in params:
            params["size"] = None
        return params

    return convert


def without_weights(affine: str, *names: str) -> Convert:
    """A normalization without weight and bias."""

    def convert(op: Operator) -> Params | None:
        if len(op.inputs) != 1:
            return None
        return {affine: False, **{name: op.params[name] for name in names}}

    return convert


def instance_norm(op: Operator) -> Params | None:
    shape = op.inputs[0].shape
    if len(op.inputs) != 1 or shape is None or len(shape) < 3 or isinstance(shape[1], str):
        return None
    return {
        "affine": False,
        "eps": op.params["eps"],
        "num_features": shape[1],
        "track_running_stats": False,
    }


ROWS: dict[str, tuple[Row, ...]] = {
    "CELU": (Row("F.celu", keep("alpha")),),
    "ELU": (Row("F.elu", keep("alpha")),),
    "GELU": (Row("F.gelu", all_params),),
    "GLU": (Row("F.glu", keep("dim")),),
    "Hardshrink": (Row("F.hardshrink", keep("lambd")),),
    "Hardsigmoid": (Row("F.hardsigmoid", keep()),),
    "Hardswish": (Row("F.hardswish", keep()),),
    "Hardtanh": (Row("F.hardtanh", keep("min_val", "max_val")),),
    "LeakyReLU": (Row("F.leaky_relu", keep("negative_slope")),),
    "LogSigmoid": (Row("F.logsigmoid", keep()),),
    "LogSoftmax": (Row("F.log_softmax", keep("dim")),),
    "Mish": (Row("F.mish", keep()),),
    "RReLU": (Row("F.rrelu", keep("lower", "upper")),),
    "ReLU": (Row("F.relu", keep()),),
    "ReLU6": (Row("F.relu6", keep()), Row("F.hardtanh", lambda op: relu6(op))),
    "SELU": (Row("F.selu", keep()),),
    "SiLU": (Row("F.silu", keep()),),
    "Sigmoid": (Row("F.sigmoid", keep()),),
    "Softmax": (Row("F.softmax", keep("dim")),),
    "Softmax2d": (Row("F.softmax", softmax_2d),),
    "Softmin": (Row("F.softmin", keep("dim")),),
    "Softplus": (Row("F.softplus", keep("beta", "threshold")),),
    "Softshrink": (Row("F.softshrink", keep("lambd")),),
    "Softsign": (Row("F.softsign", keep()),),
    "Tanh": (Row("F.tanh", keep()),),
    "Tanhshrink": (Row("F.tanhshrink", keep()),),
    "Threshold": (Row("F.threshold", keep("threshold", "value")),),
    "ChannelShuffle": (Row("F.channel_shuffle", keep("groups")),),
    "Fold": (Row("F.fold", all_params),),
    "LocalResponseNorm": (Row("F.local_response_norm", all_params),),
    "PixelShuffle": (Row("F.pixel_shuffle", keep("upscale_factor")),),
    "PixelUnshuffle": (Row("F.pixel_unshuffle", keep("downscale_factor")),),
    "Unfold": (Row("F.unfold", all_params),),
    "Upsample": (
        Row("F.upsample", upsample),
        Row("F.upsample_nearest", upsample),
        Row("F.interpolate", lambda op: interpolate(op)),
    ),
    "UpsamplingBilinear2d": (Row("F.upsample", upsampling("bilinear")),),
    "UpsamplingNearest2d": (Row("F.upsample_nearest", upsampling("nearest")),),
    "ZeroPad1d": (Row("F.pad", padding("constant", 1)),),
    "ZeroPad2d": (Row("F.pad", padding("constant", 2)),),
    "ZeroPad3d": (Row("F.pad", padding("constant", 3)),),
    "GroupNorm": (Row("F.group_norm", lambda op: group_norm(op)),),
    "LayerNorm": (
        Row(
            "F.layer_norm",
            without_weights("elementwise_affine", "eps", "normalized_shape"),
        ),
    ),
    "RMSNorm": (
        Row(
            "F.rms_norm",
            without_weights("elementwise_affine", "eps", "normalized_shape"),
        ),
    ),
    **{
        f"{name}{dims}d": (Row(f"F.{function}{dims}d", convert),)
        for dims in (1, 2, 3)
        for name, function, convert in (
            ("AdaptiveAvgPool", "adaptive_avg_pool", all_params),
            ("AdaptiveMaxPool", "adaptive_max_pool", all_params),
            ("AvgPool", "avg_pool", pooling),
            ("LPPool", "lp_pool", lp_pooling),
            ("MaxPool", "max_pool", pooling),
        )
    },
    "PSRoIAlign": (Row("torchvision.ops.ps_roi_align", all_params),),
    "PSRoIPool": (Row("torchvision.ops.ps_roi_pool", all_params),),
    "RoIAlign": (Row("torchvision.ops.roi_align", all_params),),
    "RoIPool": (Row("torchvision.ops.roi_pool", all_params),),
    **{f"InstanceNorm{dims}d": (Row("F.instance_norm", instance_norm),) for dims in (1, 2, 3)},
    **{
        f"{name}Pad{dims}d": (Row("F.pad", padding(mode, dims, value=mode == "constant")),)
        for dims in (1, 2, 3)
        for name, mode in (
            ("Constant", "constant"),
            ("Reflection", "reflect"),
            ("Replication", "replicate"),
        )
    },
}


def group_norm(op: Operator) -> Params | None:
    params = without_weights("affine", "eps", "num_groups")(op)
    shape = op.inputs[0].shape
    if params is None or shape is None or isinstance(shape[1], str):
        return None
    return {**params, "num_channels": shape[1]}


def relu6(op: Operator) -> Params | None:
    return {} if op.params["min_val"] == 0 and op.params["max_val"] == 6 else None


def interpolate(op: Operator) -> Params | None:
    """`nn.Upsample` has no `antialias`."""
    if "antialias" in op.params:
        return None
    return upsample(op)


class Modules(Pass):
    """Before: `F.relu x -> y` that an nn.ReLU called `act` made. After: `nn.ReLU act x -> y`."""

    def run(self, graph: Graph) -> int:
        return sum(spell(graph, op) for op in graph.operators if op.module is not None)


def spell(graph: Graph, op: Operator) -> bool:
    assert op.module is not None
    if any(operand.is_number for operand in op.inputs):
        return False  # A module has no room for numbers that are worked out as it runs.
    fqn, class_name = op.module
    home = next((PREFIXES[prefix] for prefix in PREFIXES if class_name.startswith(prefix)), None)
    if home is None:
        return False
    name = class_name.rpartition(".")[2]
    for row in ROWS.get(name, ()):
        if row.function != op.type:
            continue
        params = row.params(op)
        if params is not None:
            op.type, op.name, op.params = f"{home}.{name}", fqn, params
            graph.set_inputs(op, op.inputs)
            return True
    return False
