"""Changes of dtype."""

from __future__ import annotations

from converter.aten.call import Call
from converter.aten.dtype import convert, torch_dtype
from converter.aten.emit import Emitter
from converter.aten.registry import lowers
from converter.ir import Operand


@lowers(
    *("to.dtype", "to.dtype_layout", "to.device", "to.other", "_to_copy.default"),
    "prims.convert_element_type.default",
)
def to(call: Call, emit: Emitter) -> None:
    """A change of dtype; of device or memory format only, it is none."""
    source = call.tensor(next(iter(call.args)))
    other = call.args.get("other")
    dtype = other.dtype if isinstance(other, Operand) else call.args.get("dtype")
    if dtype is None or dtype == source.dtype:
        emit.alias(call.output, source)
    else:
        convert(emit, call.output, source, str(dtype))


@lowers("view.dtype")
def view(call: Call, emit: Emitter) -> None:
    """The same bytes, read as another dtype."""
    dtype = torch_dtype(call.args["dtype"])
    emit.op("Tensor.view", call.output, input=call.tensor("self"), dtype=dtype)


@lowers("type_as.default")
def type_as(call: Call, emit: Emitter) -> None:
    source, other = call.tensor("self"), call.tensor("other")
    if source.dtype == other.dtype:
        emit.alias(call.output, source)
    else:
        emit.op("Tensor.type_as", call.output, input=source, other=other)
