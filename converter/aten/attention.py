"""Scaled dot-product attention, composite and as decompositions leave it."""

from __future__ import annotations

from converter.aten.call import EVAL, Arg, Call
from converter.aten.emit import Emitter
from converter.aten.registry import lowers


def check_dropout(call: Call) -> None:
    if call.number("dropout_p") != 0:
        raise call.refuse(
            "dropout_p is not 0, so that it is random", f"{EVAL}, or pass dropout_p=0"
        )


@lowers("scaled_dot_product_attention.default")
def scaled_dot_product_attention(call: Call, emit: Emitter) -> None:
    check_dropout(call)
    tensors = {name: call.tensor(name) for name in ("query", "key", "value")}
    arguments = {**call.args, **tensors}
    if arguments["scale"] is None:
        del arguments["scale"]
    if not arguments["enable_gqa"]:
        del arguments["enable_gqa"]
    emit.op("F.scaled_dot_product_attention", call.output, **arguments)


@lowers(
    "_scaled_dot_product_cudnn_attention.default",
    "_scaled_dot_product_efficient_attention.default",
    "_scaled_dot_product_flash_attention.default",
    "_scaled_dot_product_flash_attention_for_cpu.default",
)
def chosen_kernel(call: Call, emit: Emitter) -> None:
    """What decompositions choose for the device; all compute the same, and by-products."""
    check_dropout(call)
    output, *by_products = call.outputs
    for by_product in by_products:
        emit.unread(by_product)
    scale: dict[str, Arg] = {} if call.args["scale"] is None else {"scale": call.args["scale"]}
    emit.op(
        "F.scaled_dot_product_attention",
        output,
        query=call.tensor("query"),
        key=call.tensor("key"),
        value=call.tensor("value"),
        attn_mask=call.args.get("attn_mask", call.args.get("attn_bias")),
        dropout_p=0.0,
        is_causal=call.flag("is_causal"),
        **scale,
    )
