"""The operators of torchvision."""

from __future__ import annotations

from converter.aten.call import Arg, Call
from converter.aten.emit import Emitter
from converter.aten.recurrent import is_zero
from converter.aten.registry import lowers, same

same("torchvision.nms.default", "torchvision.ops.nms", names={"dets": "boxes"})


@lowers(
    "torchvision.ps_roi_align.default",
    "torchvision.ps_roi_pool.default",
    "torchvision.roi_align.default",
    "torchvision.roi_pool.default",
)
def regions(call: Call, emit: Emitter) -> None:
    output, *by_products = call.outputs
    for by_product in by_products:
        emit.unread(by_product)
    arguments: dict[str, Arg] = {
        name: call.args[name]
        for name in ("spatial_scale", "sampling_ratio", "aligned")
        if name in call.args
    }
    emit.op(
        f"torchvision.ops.{call.target.split('.')[1]}",
        output,
        input=call.tensor("input"),
        boxes=call.tensor("rois"),
        output_size=(call.integer("pooled_height"), call.integer("pooled_width")),
        **arguments,
    )


@lowers("torchvision.deform_conv2d.default")
def deform_conv2d(call: Call, emit: Emitter) -> None:
    """Without a mask or a bias, torchvision passes zeros."""
    weight, bias = call.tensor("weight"), call.tensor("bias")
    channels, taken = ((call.tensor(name).shape or (0, 0))[1] for name in ("input", "weight"))
    if not isinstance(taken, int) or call.integer("groups") * taken != channels:
        raise call.refuse("its groups do not fit its weight")
    mask: dict[str, Arg] = {"mask": call.tensor("mask")} if call.flag("use_mask") else {}
    emit.op(
        "torchvision.ops.deform_conv2d",
        call.output,
        input=call.tensor("input"),
        offset=call.tensor("offset"),
        **mask,
        weight=weight,
        bias=None if is_zero(bias) else bias,
        stride=(call.integer("stride_h"), call.integer("stride_w")),
        padding=(call.integer("pad_h"), call.integer("pad_w")),
        dilation=(call.integer("dilation_h"), call.integer("dilation_w")),
    )
