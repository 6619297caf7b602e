"""Padding, interpolation and other changes of resolution."""

from __future__ import annotations

from converter.aten.call import Arg, Call
from converter.aten.emit import Emitter
from converter.aten.registry import lowers, same

INTERPOLATION = ("bilinear", "nearest", "bicubic")
PADDING = ("zeros", "border", "reflection")
"""Modes by ATen's numbers (torch/nn/functional.py, grid_sample)."""

same("pad.default", "F.pad")
same("constant_pad_nd.default", "F.pad", add={"mode": "constant"})
same("pixel_shuffle.default", "F.pixel_shuffle")
same("pixel_unshuffle.default", "F.pixel_unshuffle")
same("channel_shuffle.default", "F.channel_shuffle")


def pad(mode: str, *targets: str) -> None:
    @lowers(*targets)
    def lowering(call: Call, emit: Emitter) -> None:
        emit.op(
            "F.pad",
            call.output,
            input=call.tensor("self"),
            pad=call.integers("padding"),
            mode=mode,
            value=None,
        )


for rank in (1, 2, 3):
    pad("reflect", f"reflection_pad{rank}d.default")
    pad("replicate", f"replication_pad{rank}d.default")


def upsample(call: Call, emit: Emitter, mode: str) -> None:
    """`.vec` overloads have a size or scale factors, the others a size and perhaps its origin.

    With `scale_factor` and no `recompute_scale_factor`, the factor itself maps positions, and is
    kept.
    """
    arguments: dict[str, Arg] = {"input": call.tensor("self" if "self" in call.args else "input")}
    if call.target.endswith(".vec"):
        size, factors = call.args["output_size"], call.args["scale_factors"]
    else:
        size = call.args["output_size"]
        scales = tuple(value for name, value in call.args.items() if name.startswith("scales"))
        factors = None if None in scales or not scales else scales
    if factors is not None:
        arguments["scale_factor"] = factors
        arguments.pop("size", None)
    else:
        arguments["size"] = size
    nearest = mode in ("nearest", "nearest-exact")
    if not nearest:
        arguments["align_corners"] = call.flag("align_corners")
    if mode == "nearest" and "1d" not in call.target:
        emit.op("F.upsample_nearest", call.output, **arguments)
    elif mode == "nearest-exact":
        emit.op("F.interpolate", call.output, mode=mode, **arguments)
    else:
        emit.op("F.upsample", call.output, mode=mode, **arguments)


def interpolation(mode: str, *names: str) -> None:
    @lowers(*[f"{name}.{overload}" for name in names for overload in ("default", "vec")])
    def lowering(call: Call, emit: Emitter) -> None:
        upsample(call, emit, mode)


interpolation("nearest", "upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d")
interpolation(
    "nearest-exact",
    "_upsample_nearest_exact1d",
    "_upsample_nearest_exact2d",
    "_upsample_nearest_exact3d",
)
interpolation("linear", "upsample_linear1d")
interpolation("bilinear", "upsample_bilinear2d")
interpolation("trilinear", "upsample_trilinear3d")
interpolation("bicubic", "upsample_bicubic2d")


def antialiased(mode: str, name: str) -> None:
    @lowers(f"{name}.default", f"{name}.vec")
    def lowering(call: Call, emit: Emitter) -> None:
        factors = call.args.get("scale_factors")
        arguments: dict[str, Arg] = (
            {"size": call.args["output_size"]} if factors is None else {"scale_factor": factors}
        )
        emit.op(
            "F.interpolate",
            call.output,
            input=call.tensor("self" if "self" in call.args else "input"),
            mode=mode,
            align_corners=call.flag("align_corners"),
            antialias=True,
            **arguments,
        )


antialiased("bilinear", "_upsample_bilinear2d_aa")
antialiased("bicubic", "_upsample_bicubic2d_aa")


@lowers("grid_sampler.default", "grid_sampler_2d.default", "grid_sampler_3d.default")
def grid_sampler(call: Call, emit: Emitter) -> None:
    emit.op(
        "F.grid_sample",
        call.output,
        input=call.tensor("input"),
        grid=call.tensor("grid"),
        mode=INTERPOLATION[call.integer("interpolation_mode")],
        padding_mode=PADDING[call.integer("padding_mode")],
        align_corners=call.flag("align_corners"),
    )


same("affine_grid_generator.default", "F.affine_grid")
