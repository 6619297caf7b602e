"""What in-place operators that only write become: the new value of the tensor."""

from __future__ import annotations

from converter.aten.call import Call
from converter.aten.dtype import cast
from converter.aten.emit import Emitter
from converter.aten.expr import sizes_of
from converter.aten.indexing import stored_number
from converter.aten.registry import lowers


@lowers("fill.Scalar")
def fill(call: Call, emit: Emitter) -> None:
    value = call.number_or_complex("value")
    emit.op("Tensor.fill", call.output, input=call.tensor("self"), value=value)


@lowers("fill.Tensor")
def fill_tensor(call: Call, emit: Emitter) -> None:
    value = stored_number(call.tensor("value"))
    emit.op("Tensor.fill", call.output, input=call.tensor("self"), value=value)


@lowers("zero.default")
def zero(call: Call, emit: Emitter) -> None:
    emit.op("Tensor.fill", call.output, input=call.tensor("self"), value=0)


@lowers("copy.default")
def copy(call: Call, emit: Emitter) -> None:
    """The source, in the dtype and shape of what it is copied to; `x.copy_(2)` copies a number."""
    target = call.tensor("self")
    if isinstance(call.args["src"], bool | int | float | complex):
        value = call.number_or_complex("src")
        emit.op("Tensor.fill", call.output, input=target, value=value)
        return
    source = call.tensor("src")
    if source.dtype != target.dtype:
        source = cast(emit, source, str(target.dtype))
    if source.shape == target.shape:
        emit.alias(call.output, source)
    else:
        emit.op("Tensor.expand", call.output, input=source, sizes=sizes_of(target))
