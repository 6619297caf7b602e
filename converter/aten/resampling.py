"""Padding, interpolation and other changes of resolution."""

from __future__ import annotations

from math import floor

from converter.aten.call import Arg, Call
from converter.aten.emit import Emitter
from converter.aten.registry import lowers, same
from converter.dims import product
from converter.ir import Dim, Operand, Shape

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
            pad=call.args["padding"],
            mode=mode,
            value=None,
        )


for rank in (1, 2, 3):
    pad("reflect", f"reflection_pad{rank}d.default")
    pad("replicate", f"replication_pad{rank}d.default")


def resized(call: Call) -> dict[str, Arg]:
    """The input, and its new size or the factors of it.

    `.vec` overloads have either. The others have a size and perhaps the factors that it came from,
    by which positions are mapped; then PyTorch's functions must come from them to the same size.
    """
    if call.target.endswith(".vec"):
        source = call.tensor("input")
        size, factors = call.args["output_size"], call.args["scale_factors"]
    else:
        source, size = call.tensor("self"), call.args["output_size"]
        factors = tuple(value for name, value in call.args.items() if name.startswith("scales"))
        if all(factor is None for factor in factors):
            factors = None
        elif call.output.shape != by_factors(source, factors):
            raise call.refuse(f"the size {size} is not that of the input times {factors}")
    return {"input": source, **({"size": size} if factors is None else {"scale_factor": factors})}


def by_factors(source: Operand, factors: tuple[Arg, ...]) -> Shape:
    """The shape of an image that is resized; a dynamic dim only by a whole factor."""
    assert source.shape is not None
    made: list[Dim] = list(source.shape[:2])
    for size, factor in zip(source.shape[2:], factors, strict=True):
        if isinstance(size, int) and isinstance(factor, float):
            made.append(floor(size * factor))
        elif isinstance(factor, float) and factor.is_integer():
            made.append(product((size, int(factor))))
    return tuple(made)


def upsample(call: Call, emit: Emitter, mode: str) -> None:
    arguments = resized(call)
    if "align_corners" in call.args:
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
        emit.op(
            "F.interpolate",
            call.output,
            mode=mode,
            align_corners=call.flag("align_corners"),
            antialias=True,
            **resized(call),
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
