"""Normalizations."""

from __future__ import annotations

from converter.aten.call import Call
from converter.aten.emit import Emitter
from converter.aten.registry import lowers, same

same("layer_norm.default", "F.layer_norm", drop=("cudnn_enable",))
same("group_norm.default", "F.group_norm", drop=("cudnn_enabled",))
same("rms_norm.default", "F.rms_norm")
same("pairwise_distance.default", "F.pairwise_distance")
same("cosine_similarity.default", "F.cosine_similarity")


@lowers("batch_norm.default", "cudnn_batch_norm.default")
def batch_norm(call: Call, emit: Emitter) -> None:
    if call.flag("training"):
        raise call.refuse("it normalizes by the batch in training mode", "export in eval mode")
    normalize_by_running_stats(call, emit)


@lowers("_native_batch_norm_legit_no_training.default")
def native_batch_norm(call: Call, emit: Emitter) -> None:
    for saved in call.outputs[1:]:
        emit.unread(saved)
    normalize_by_running_stats(call, emit)


def normalize_by_running_stats(call: Call, emit: Emitter) -> None:
    emit.op(
        "F.batch_norm",
        call.outputs[0],
        input=call.tensor("input"),
        running_mean=call.args["running_mean"],
        running_var=call.args["running_var"],
        weight=call.args["weight"],
        bias=call.args["bias"],
        eps=call.args["eps"],
    )


@lowers("instance_norm.default")
def instance_norm(call: Call, emit: Emitter) -> None:
    by_input = call.flag("use_input_stats")
    running = ("running_mean", "running_var")
    if by_input and any(call.args[name] is not None for name in running):
        raise call.refuse("it updates running statistics in training mode", "export in eval mode")
    emit.op(
        "F.instance_norm",
        call.output,
        input=call.tensor("input"),
        running_mean=call.args["running_mean"],
        running_var=call.args["running_var"],
        weight=call.args["weight"],
        bias=call.args["bias"],
        eps=call.args["eps"],
        **({} if by_input else {"use_input_stats": False}),
    )


@lowers("native_layer_norm.default")
def native_layer_norm(call: Call, emit: Emitter) -> None:
    for saved in call.outputs[1:]:
        emit.unread(saved)
    emit.op(
        "F.layer_norm",
        call.outputs[0],
        input=call.tensor("input"),
        normalized_shape=call.args["normalized_shape"],
        weight=call.args["weight"],
        bias=call.args["bias"],
        eps=call.args["eps"],
    )


@lowers("native_group_norm.default")
def native_group_norm(call: Call, emit: Emitter) -> None:
    for saved in call.outputs[1:]:
        emit.unread(saved)
    emit.op(
        "F.group_norm",
        call.outputs[0],
        input=call.tensor("input"),
        num_groups=call.args["group"],
        weight=call.args["weight"],
        bias=call.args["bias"],
        eps=call.args["eps"],
    )
