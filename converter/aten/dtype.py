"""PyTorch's names of dtypes, as pnnx writes them, and conversions between them."""

from __future__ import annotations

from converter.aten.call import Arg
from converter.aten.emit import Emitter
from converter.ir import Operand

TORCH_NAMES = {
    "f32": "torch.float",
    "f64": "torch.double",
    "f16": "torch.half",
    "bf16": "torch.bfloat16",
    "u8": "torch.uint8",
    "i8": "torch.int8",
    "i16": "torch.short",
    "i32": "torch.int",
    "i64": "torch.long",
    "bool": "torch.bool",
    "c64": "torch.complex64",
    "c128": "torch.complex128",
}

NAMES = {torch: name for name, torch in TORCH_NAMES.items()}


def torch_dtype(name: Arg) -> str:
    """`torch.float` of `f32`. Raises KeyError for one that pnnx lacks."""
    assert isinstance(name, str)
    return TORCH_NAMES[name]


def cast(emit: Emitter, source: Operand, dtype: str) -> Operand:
    """Convert a tensor to another dtype (`torch.float`); the result is a temporary of the call."""
    result = emit.temporary(source.shape, NAMES[dtype])
    emit.op("Tensor.to", result, input=source, copy=False, dtype=dtype)
    return result
