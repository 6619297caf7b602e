"""What the user asks to keep (`moduleop=`, `customop=`): a layer that the user gives to ncnn."""

from __future__ import annotations

from re import fullmatch

from converter.ir import Operand
from converter.ncnn.blob import MAX_RANK, Blob
from converter.ncnn.graph import FLOATS
from converter.ncnn.layers import LAYERS, MOST_SHAPES, ForeignLayer, LayerCall
from converter.ncnn.op import Op
from converter.ncnn.registry import Rule
from converter.rules import named


def kept(op: Op) -> list[Blob]:
    """A layer named after the module's class or the custom operator, with the module's tensors.

    Its blobs hold floats, or, of indices, 32-bit integers.
    """
    if op.type in LAYERS:
        op.refuse("ncnn has a layer of that name", "give the class another")
    if not fullmatch("[!-~]{1,255}", op.type):
        op.refuse("ncnn cannot read its name", "give the class a short one of ASCII")
    if op.params:
        op.refuse(
            f"{next(iter(op.params))} would be lost, as ncnn numbers the parameters of layers",
            "call it in a module, and keep that with moduleop=",
        )
    if len(op.attrs) > MOST_SHAPES:
        op.refuse(f"has {len(op.attrs)} tensors, and an ncnn layer at most {MOST_SHAPES}")
    inputs = [_input(op, index) for index in range(op.count)]
    outputs = [(op.shape(place), _batch(op, made)) for place, made in enumerate(op.outputs)]
    shapes = {name: attr.shape or (1,) for name, attr in op.attrs.items()}
    call = LayerCall(ForeignLayer(op.type, op.attrs), shapes, op.attrs)
    return op.emits(call, inputs, outputs)


def _input(op: Op, index: int) -> Blob:
    blob = op.blob(index)
    if blob.dtype not in FLOATS and not blob.indices:
        op.refuse(f"reads {blob.dtype}, and ncnn holds floats", "convert it with .float()")
    return op.lay(blob, _batch(op, op.inputs[index]))


def _batch(op: Op, operand: Operand) -> int | None:
    """Axis 0, if the operators around want it or there is no other way; else none."""
    if operand.dtype not in FLOATS and operand in op.outputs:
        op.refuse(f"makes {operand.dtype}, and ncnn holds floats", "let it return floats")
    rank = len(operand.shape or ())
    return 0 if rank > MAX_RANK or (rank > 1 and op.wanted_of(operand) == 0) else None


KEPT = Rule(kept, batch=None, dtypes="checked", name=named(__name__, "kept"))
