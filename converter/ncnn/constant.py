"""Constants of the graph."""

from __future__ import annotations

from converter.ncnn.blob import Blob
from converter.ncnn.op import Op
from converter.ncnn.registry import ncnn


@ncnn("pnnx.Attribute", dtypes="checked")
def attribute(op: Op) -> Blob:
    return op.constant(op.attr("data"))
