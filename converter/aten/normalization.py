"""Normalizations."""

from __future__ import annotations

import msgspec

from converter.aten.call import EVAL, Call
from converter.aten.emit import Emitter
from converter.aten.registry import lowers, overloads, same
from converter.errors import UnsupportedError

same("layer_norm.default", "F.layer_norm", drop=("cudnn_enable",))
same("group_norm.default", "F.group_norm", drop=("cudnn_enabled",))
same("rms_norm.default", "F.rms_norm")
same("pairwise_distance.default", "F.pairwise_distance")
same("cosine_similarity.default", "F.cosine_similarity")
same(overloads("pdist _pdist_forward"), "F.pdist")

PRODUCTS = {
    None: "use_mm_for_euclid_dist_if_necessary",
    0: "use_mm_for_euclid_dist_if_necessary",
    1: "use_mm_for_euclid_dist",
    2: "donot_use_mm_for_euclid_dist",
}
"""torch.cdist's compute_mode by ATen's numbers."""

same(overloads("cdist _cdist_forward"), "torch.cdist", convert={"compute_mode": PRODUCTS.get})


def in_training(module: tuple[str, str] | None) -> bool:
    """Whether it is a module that has an instance norm compute statistics in spite of those that it
    has: a module in training mode. The function does so unless it is told otherwise.
    """
    return module is not None and ".instancenorm." in module[1]


def updates(call: Call) -> UnsupportedError:
    return call.refuse("it updates running statistics in training mode", EVAL)


@lowers("batch_norm.default")
def batch_norm(call: Call, emit: Emitter) -> None:
    by_batch = call.flag("training")
    if by_batch and call.args["running_mean"] is not None:
        raise updates(call)
    normalize(call, emit, by_batch)


@lowers("_native_batch_norm_legit_no_training.default")
def native_batch_norm(call: Call, emit: Emitter) -> None:
    for saved in call.outputs[1:]:
        emit.unread(saved)
    normalize(call, emit, by_batch=False)


@lowers(
    *("_native_batch_norm_legit.default", "_native_batch_norm_legit_functional.default"),
    *("_batch_norm_with_update.default", "_batch_norm_with_update_functional.default"),
)
def updating_batch_norm(call: Call, emit: Emitter) -> None:
    """What a batch-norm or an instance norm in training mode decomposes to.

    An instance norm computes its result without the statistics. What they become has no operator of
    PyTorch's: it is refused where a result depends on it.
    """
    if call.origin != "aten.instance_norm.default" or in_training(call.module):
        raise updates(call)
    normal, *saved, mean, variance = call.outputs
    for output in saved:
        emit.unread(output)
    emit.positional(call.target, (mean, variance), ())
    without = {**call.args, "running_mean": None, "running_var": None}
    normalize(msgspec.structs.replace(call, args=without, outputs=[normal]), emit, by_batch=True)


@lowers("_native_batch_norm_legit.no_stats")
def batch_norm_without_running_stats(call: Call, emit: Emitter) -> None:
    """Decomposed, an instance norm is this of channels that are joined with the batch."""
    for saved in call.outputs[1:]:
        emit.unread(saved)
    normalize(call, emit, by_batch=call.flag("training"))


def normalize(call: Call, emit: Emitter, by_batch: bool) -> None:
    emit.op(
        "F.batch_norm",
        call.outputs[0],
        input=call.tensor("input"),
        running_mean=call.args.get("running_mean"),
        running_var=call.args.get("running_var"),
        weight=call.args["weight"],
        bias=call.args["bias"],
        eps=call.args["eps"],
        **({"training": True} if by_batch else {}),
    )


@lowers("instance_norm.default")
def instance_norm(call: Call, emit: Emitter) -> None:
    by_input = call.flag("use_input_stats")
    running = ("running_mean", "running_var")
    if by_input and any(call.args[name] is not None for name in running):
        raise updates(call)
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
