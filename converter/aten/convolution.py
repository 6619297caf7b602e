"""Convolutions, transposed ones, and their unfolding."""

from __future__ import annotations

from converter.aten.call import Arg, Call
from converter.aten.emit import Emitter
from converter.aten.registry import lowers, same

for rank in (1, 2, 3):
    same([f"conv{rank}d.default", f"conv{rank}d.padding"], f"F.conv{rank}d")
for target in ("conv_transpose1d.default", "conv_transpose2d.input", "conv_transpose3d.input"):
    same(target, f"F.{target.split('.')[0]}")


@lowers("conv_tbc.default")
def conv_tbc(call: Call, emit: Emitter) -> None:
    """It wants its input without gaps, which `Tensor.contiguous` is lowered to nothing for."""
    source = emit.copy(call.tensor("self"))
    emit.op("Tensor.contiguous", source, input=call.tensor("self"))
    emit.op(
        "F.conv_tbc",
        call.output,
        input=source,
        weight=call.tensor("weight"),
        bias=call.tensor("bias"),
        pad=call.integer("pad"),
    )


@lowers("convolution.default", "_convolution.default", "_convolution.deprecated")
def convolution(call: Call, emit: Emitter) -> None:
    """The form that decompositions leave: every rank, transposed or not."""
    source, weight = call.tensor("input"), call.tensor("weight")
    if weight.shape is None:
        raise call.refuse("the weight's shape is unknown")
    rank = len(weight.shape) - 2
    arguments: dict[str, Arg] = {
        "input": source,
        "weight": weight,
        "bias": call.tensor_or_none("bias"),
        "stride": spread(call.integers("stride"), rank),
        "padding": spread(call.integers("padding"), rank),
        "dilation": spread(call.integers("dilation"), rank),
        "groups": call.integer("groups"),
    }
    if call.flag("transposed"):
        arguments["output_padding"] = spread(call.integers("output_padding"), rank)
        emit.op(f"F.conv_transpose{rank}d", call.output, **arguments)
    else:
        emit.op(f"F.conv{rank}d", call.output, **arguments)


def spread(values: tuple[int, ...], rank: int) -> tuple[int, ...]:
    """One value counts for every dim."""
    return values * rank if len(values) == 1 else values


@lowers("im2col.default")
def im2col(call: Call, emit: Emitter) -> None:
    emit.op(
        "F.unfold",
        call.output,
        input=call.tensor("self"),
        kernel_size=call.args["kernel_size"],
        dilation=call.args["dilation"],
        padding=call.args["padding"],
        stride=call.args["stride"],
    )


@lowers("col2im.default")
def col2im(call: Call, emit: Emitter) -> None:
    emit.op(
        "F.fold",
        call.output,
        input=call.tensor("self"),
        output_size=call.args["output_size"],
        kernel_size=call.args["kernel_size"],
        dilation=call.args["dilation"],
        padding=call.args["padding"],
        stride=call.args["stride"],
    )
