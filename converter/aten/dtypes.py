"""Changes of dtype."""

from __future__ import annotations

from converter.aten.call import Call
from converter.aten.conjugates import resolved
from converter.aten.dtype import cast, convert, torch_dtype
from converter.aten.emit import Emitter
from converter.aten.memory import lay
from converter.aten.registry import lowers
from converter.ir import Operand


@lowers(
    *("to.dtype", "to.dtype_layout", "to.device", "to.other", "_to_copy.default"),
    "prims.convert_element_type.default",
)
def to(call: Call, emit: Emitter) -> None:
    """A change of dtype or memory format; of device only, it is none."""
    source = call.tensor(next(iter(call.args)))
    other, format = call.args.get("other"), call.args.get("memory_format")
    dtype = other.dtype if isinstance(other, Operand) else call.args.get("dtype")
    converts = dtype is not None and dtype != source.dtype
    if format not in (None, "torch.preserve_format"):
        laid = cast(emit, source, str(dtype)) if converts else source
        lay(emit, call.output, laid, call.string("memory_format"))
    elif converts:
        convert(emit, call.output, source, str(dtype))
    else:
        emit.alias(call.output, source)


@lowers("view.dtype")
def view(call: Call, emit: Emitter) -> None:
    """The same bytes, read as another dtype."""
    dtype = torch_dtype(call.args["dtype"])
    source = resolved(call, emit, call.tensor("self"))
    emit.op("Tensor.view", call.output, input=source, dtype=dtype)


@lowers("type_as.default")
def type_as(call: Call, emit: Emitter) -> None:
    source, other = call.tensor("self"), call.tensor("other")
    if source.dtype == other.dtype:
        emit.alias(call.output, source)
    else:
        emit.op("Tensor.type_as", call.output, input=source, other=other)
