"""Embeddings: rows of a table by index."""

from __future__ import annotations

from converter.ir import Attribute, Operator
from converter.ncnn.blob import Blob
from converter.ncnn.graph import computed
from converter.ncnn.layers import EMBED
from converter.ncnn.op import Op
from converter.ncnn.registry import ncnn


def _sentences(op: Operator) -> int | None:
    """Axis 0 of two is the batch."""
    shape = op.inputs[0].shape
    return 0 if shape is not None and len(shape) == 2 else None


@ncnn("nn.Embedding", batch=_sentences, dtypes="checked")
def embedding_module(op: Op) -> Blob:
    op.expect("max_norm", None)
    return _embed(op, op.blob(), op.attr("weight"))


@ncnn("F.embedding", batch=_sentences, dtypes="checked")
def embedding_function(op: Op) -> Blob:
    op.expect("max_norm", None)
    table = op.need("weight", 1).values
    if table is None:
        op.refuse("its table is computed", "use an nn.Embedding")
    return _embed(op, op.blob(), table)


def _embed(op: Op, indices: Blob, table: Attribute) -> Blob:
    """Embed takes the indices of one sequence, as 32-bit integers."""
    if indices.values is not None:
        places, rows_shape = indices.values, (*op.sizes(indices), table.shape[1])
        return op.constant(computed(rows_shape, lambda: table.array()[places.array()], table.dtype))
    if not indices.indices:
        op.refuse("needs indices that are an input of the network, and not computed with")
    count, size = table.shape
    words = indices
    if len(indices.dims) != 1:
        total = 1
        for dim in op.sizes(indices):
            total *= dim
        words = op.view(indices, (total,), None)
    call = EMBED(
        num_output=size, input_dim=count, bias_term=0, weight_data_size=table.size, weight=table
    )
    rows = op.emit(call, words, shape=(*words.shape, size))
    return op.view(rows, op.shape(), indices.batch)
