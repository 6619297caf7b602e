"""Operators that tell, or depend on, how tensors lie in memory."""

from __future__ import annotations

from math import prod

from converter.archive.weights import is_contiguous
from converter.aten.call import Call
from converter.aten.emit import Emitter
from converter.aten.registry import lowers
from converter.ir import Operand, Shape

ROW_MAJOR = "torch.contiguous_format"
ORDERS = {
    "torch.channels_last": (0, 2, 3, 1),
    "torch.channels_last_3d": (0, 2, 3, 4, 1),
}
"""The dims of a tensor in the order of its memory; in their own order for any other format."""

INSTEAD = "use views, unfold or index instead"


@lowers("contiguous.default")
def contiguous(call: Call, emit: Emitter) -> None:
    source, format = call.tensor("self"), call.string("memory_format")
    if lies(source.shape, call.strides["self"], format):
        emit.alias(call.output, source)
    else:
        lay(emit, call.output, source, format)


def lies(shape: Shape | None, strides: Shape, format: str) -> bool:
    """Whether a tensor lies in memory in a format, as far as is known."""
    sizes = [size for size in shape or () if isinstance(size, int)]
    steps = [step for step in strides if isinstance(step, int)]
    if shape is None or not len(sizes) == len(steps) == len(shape):
        return False
    order = ORDERS.get(format, range(len(shape)))
    return is_contiguous([sizes[dim] for dim in order], [steps[dim] for dim in order])


def lay(emit: Emitter, output: Operand, source: Operand, format: str) -> None:
    """Let `output` be a tensor that lies in memory in a format. Only the last bits of what is
    computed of it may tell: a pass leaves it out.
    """
    layout = {} if format == ROW_MAJOR else {"memory_format": format}
    emit.op("Tensor.contiguous", output, input=source, **layout)


@lowers("as_strided.default")
def as_strided(call: Call, emit: Emitter) -> None:
    """Elements are told by their places in memory, where a generated module may have put others: it
    puts them first where they were in the export.
    """
    size, stride = call.integers("size"), call.integers("stride")
    if call.args["storage_offset"] is not None:
        raise call.refuse("storage_offset counts from outside of the tensor", INSTEAD)
    last = sum((count - 1) * step for count, step in zip(size, stride, strict=True))
    if prod(size) and last >= prod(call.sizes(call.tensor("self"))):
        raise call.refuse("it reads beyond the tensor", INSTEAD)
    emit.op("torch.as_strided", call.output, input=laid(call, emit), size=size, stride=stride)


def laid(call: Call, emit: Emitter) -> Operand:
    """Return `self` with its dims in the order of its memory, and its memory in theirs."""
    source = call.tensor("self")
    shape = call.sizes(source)
    steps = [step for step in call.strides["self"] if isinstance(step, int)]
    if len(steps) < len(shape):
        raise call.refuse("how the tensor lies in memory is not known", INSTEAD)
    order = sorted(range(len(shape)), key=lambda dim: -steps[dim])
    shape = tuple(shape[dim] for dim in order)
    if not is_contiguous(shape, [steps[dim] for dim in order]):
        raise call.refuse("its elements do not fill a part of the memory", INSTEAD)
    if order != sorted(order):
        permuted = emit.temporary(shape, source.dtype)
        emit.op("Tensor.permute", permuted, input=source, dims=tuple(order))
        source = permuted
    ordered = emit.copy(source)
    emit.op("Tensor.contiguous", ordered, input=source)
    return ordered
