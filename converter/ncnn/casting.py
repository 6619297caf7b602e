"""Conversions to other dtypes."""

from __future__ import annotations

from converter.ncnn.arithmetic import unary
from converter.ncnn.blob import Blob
from converter.ncnn.boolean import nonzero
from converter.ncnn.expression import evaluated
from converter.ncnn.graph import FLOATS, INTEGERS
from converter.ncnn.op import Op
from converter.ncnn.registry import ncnn


@ncnn("Tensor.to", "Tensor.type_as", dtypes="checked")
def to(op: Op) -> Blob:
    """Another dtype. Floats of all precisions, integers and booleans are held as floats."""
    x, dtype = op.blob(), op.output.dtype
    if x.indices:
        op.refuse(
            "converts indices that an embedding reads", "give the embedding an input of its own"
        )
    for name in (x.dtype, dtype):
        if name not in (*FLOATS, *INTEGERS, "bool"):
            op.refuse(f"converts {x.dtype} to {dtype}, which ncnn cannot hold")
    if dtype == "bool" and x.dtype != "bool":
        return nonzero(op, x)
    if dtype in INTEGERS and x.dtype in FLOATS:
        return _cut_off(op, x)
    return x


def _cut_off(op: Op, x: Blob) -> Blob:
    """Without what is behind the point; a quotient is divided anew, which is exact then."""
    made = op.inputs[0].producer
    if made is not None and made.type == "pnnx.Expression":
        formula = str(made.params["expr"])
        if formula.startswith("div("):
            return evaluated(op.of(made), f"trunc({formula})")
    return unary(op, "trunc", x)
