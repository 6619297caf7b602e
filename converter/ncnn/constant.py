"""Constants of the graph, and tensors filled with one value."""

from __future__ import annotations

import numpy as np

from converter.ir import Attribute
from converter.ncnn.blob import Blob
from converter.ncnn.graph import FLOATS
from converter.ncnn.op import Op
from converter.ncnn.registry import ncnn


@ncnn("pnnx.Attribute", dtypes="checked")
def attribute(op: Op) -> Blob:
    return op.constant(op.attr("data"))


@ncnn("Tensor.fill", "torch.full_like", "torch.ones_like", "torch.zeros_like", dtypes="checked")
def filled(op: Op) -> Blob:
    if op.output.dtype not in FLOATS:
        op.refuse(f"makes {op.output.dtype}, and ncnn holds floats")
    match op.type:
        case "torch.zeros_like":
            value = 0.0
        case "torch.ones_like":
            value = 1.0
        case _:
            value = op.number("value" if op.type == "Tensor.fill" else "fill_value")
    return op.constant(Attribute.of(np.full(op.known(op.shape()), value, np.float32)))
