"""Scaled dot-product attention, composite and as decompositions leave it."""

from __future__ import annotations

from converter.aten.call import Arg, Call
from converter.aten.emit import Emitter
from converter.aten.registry import lowers


@lowers("scaled_dot_product_attention.default")
def scaled_dot_product_attention(call: Call, emit: Emitter) -> None:
    if call.number("dropout_p") != 0:
        raise call.refuse("dropout_p is not 0, so that it is random", "export in eval mode")
    arguments = dict(call.args)
    if arguments["scale"] is None:
        del arguments["scale"]
    if not arguments["enable_gqa"]:
        del arguments["enable_gqa"]
    emit.op("F.scaled_dot_product_attention", call.output, **arguments)


@lowers("_scaled_dot_product_flash_attention_for_cpu.default")
def flash_attention_for_cpu(call: Call, emit: Emitter) -> None:
    if call.number("dropout_p") != 0:
        raise call.refuse("dropout_p is not 0, so that it is random", "export in eval mode")
    output, logsumexp = call.outputs
    arguments: dict[str, Arg] = {
        name: call.args[name] for name in ("query", "key", "value", "attn_mask", "is_causal")
    }
    if call.args["scale"] is not None:
        arguments["scale"] = call.args["scale"]
    emit.op("F.scaled_dot_product_attention", output, dropout_p=0.0, **arguments)
    # A leftover of the decomposition that no forward pass reads.
    emit.unread(logsumexp)
