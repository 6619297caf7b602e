"""Pooling."""

from __future__ import annotations

from converter.aten.call import Call
from converter.aten.emit import Emitter
from converter.aten.registry import lowers, none_if_empty, same

KERNEL_STRIDE = {"stride": none_if_empty}

same("avg_pool1d.default", "F.avg_pool1d", convert=KERNEL_STRIDE)
same("avg_pool2d.default", "F.avg_pool2d", convert=KERNEL_STRIDE)
same("avg_pool3d.default", "F.avg_pool3d", convert=KERNEL_STRIDE)

for rank in (1, 2, 3):
    same(f"adaptive_avg_pool{rank}d.default", f"F.adaptive_avg_pool{rank}d")
    same(
        f"max_pool{rank}d.default",
        f"F.max_pool{rank}d",
        add={"return_indices": False},
        convert=KERNEL_STRIDE,
    )
same("_adaptive_avg_pool2d.default", "F.adaptive_avg_pool2d")
same("_adaptive_avg_pool3d.default", "F.adaptive_avg_pool3d")


@lowers(
    "max_pool1d_with_indices.default",
    "max_pool2d_with_indices.default",
    "max_pool3d_with_indices.default",
)
def max_pool_with_indices(call: Call, emit: Emitter) -> None:
    """Decomposed programs have this form even where nobody reads the indices: a pass drops them."""
    rank = call.target.split("max_pool")[1][0]
    emit.op(
        f"F.max_pool{rank}d",
        call.outputs,
        input=call.tensor("self"),
        kernel_size=call.args["kernel_size"],
        stride=none_if_empty(call.args["stride"]),
        padding=call.args["padding"],
        dilation=call.args["dilation"],
        ceil_mode=call.args["ceil_mode"],
        return_indices=True,
    )


@lowers("max_unpool2d.default", "max_unpool3d.default")
def max_unpool(call: Call, emit: Emitter) -> None:
    """ATen takes the size; PyTorch wants to see it come from a kernel's, one step at a time."""
    rank = int(call.target.split("max_unpool")[1][0])
    source, size = call.tensor("self"), call.integers("output_size")
    pooled = call.sizes(source)[-rank:]
    emit.op(
        f"F.max_unpool{rank}d",
        call.output,
        input=source,
        indices=call.tensor("indices"),
        kernel_size=tuple(large - small + 1 for large, small in zip(size, pooled, strict=True)),
        stride=(1,) * rank,
        padding=(0,) * rank,
        output_size=size,
    )


@lowers("adaptive_max_pool1d.default", "adaptive_max_pool2d.default", "adaptive_max_pool3d.default")
def adaptive_max_pool(call: Call, emit: Emitter) -> None:
    rank = call.target.split("max_pool")[1][0]
    emit.op(
        f"F.adaptive_max_pool{rank}d",
        call.outputs,
        input=call.tensor("self"),
        output_size=call.args["output_size"],
        return_indices=True,
    )
