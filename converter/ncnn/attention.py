"""Attention: `nn.MultiheadAttention` and scaled dot products."""

from __future__ import annotations

import math

import numpy as np

from converter.ir import Array, Attribute, Operator
from converter.ncnn.blob import Blob
from converter.ncnn.boolean import chosen
from converter.ncnn.graph import computed
from converter.ncnn.joining import expanded
from converter.ncnn.layers import MULTI_HEAD_ATTENTION, SDPA
from converter.ncnn.op import Op
from converter.ncnn.registry import ncnn


def _sequences(op: Operator) -> int | None:
    """The batch axis of three: the first or second."""
    shape = op.inputs[0].shape
    if shape is None or len(shape) != 3:
        return None
    return 0 if op.params.get("batch_first") is True else 1


@ncnn("nn.MultiheadAttention", batch=_sequences, dtypes="checked")
def multihead_attention(op: Op) -> list[Blob]:
    for name in ("add_bias_kv", "add_zero_attn"):
        op.expect(name, False)
    names = op.names
    if unknown := set(names) - {"", "input", "query", "key", "value", "attn_mask"}:
        op.refuse(f"the input {', '.join(unknown)} is not expressible in ncnn")
    mask = op.blob(names.index("attn_mask")) if "attn_mask" in names else None
    axis = _sequences(op.operator)
    inputs = [
        op.lay(op.blob(index), axis) for index, name in enumerate(names) if name != "attn_mask"
    ]
    embed = op.integer("embed_dim")
    call = MULTI_HEAD_ATTENTION(
        embed_dim=embed,
        num_heads=op.integer("num_heads"),
        weight_data_size=embed * embed,
        kdim=op.integer("kdim", embed),
        vdim=op.integer("vdim", embed),
        attn_mask=int(mask is not None),
        **_projections(op, embed),
    )
    if mask is not None:
        inputs.append(_heads_mask(op, mask, inputs[0]))
    return op.values(op.emit(call, *inputs))


def _heads_mask(op: Op, mask: Blob, query: Blob) -> Blob:
    """A mask (queries, keys), or (batch and heads, queries, keys), added or true where ignored."""
    if mask.dtype == "bool":
        mask = chosen(op, mask, -math.inf, 0.0)
    if mask.rank != 3:
        return op.lay(mask, None)
    batch = 1 if query.batch is None else op.known((query.count,))[0]
    count, *rest = op.sizes(mask)
    return op.view(mask, (batch, count // batch, *rest), 0)


def _projections(op: Op, embed: int) -> dict[str, Attribute]:
    """The weights and biases of queries, keys and values, which PyTorch may hold as one."""
    weights: dict[str, Attribute] = {}
    for place, name in enumerate("qkv"):
        if "in_proj_weight" in op.attrs:
            weight = _rows(op.attr("in_proj_weight"), place * embed, embed)
        else:
            weight = op.attr(f"{name}_proj_weight")
        weights[f"{name}_weight"] = weight
        weights[f"{name}_bias"] = (
            _rows(op.attr("in_proj_bias"), place * embed, embed)
            if "in_proj_bias" in op.attrs
            else _zeros(embed)
        )
    weights["out_weight"] = op.attr("out_proj.weight")
    weights["out_bias"] = op.attrs.get("out_proj.bias") or _zeros(embed)
    return weights


def _zeros(count: int) -> Attribute:
    return Attribute.of(np.zeros(count, np.float32))


def _rows(attr: Attribute, start: int, count: int) -> Attribute:
    def make() -> Array:
        return attr.array()[start : start + count]

    return computed((count, *attr.shape[1:]), make, attr.dtype)


def _heads(op: Operator) -> int | None:
    """Axis 0 of four is the batch, the next the heads."""
    shape = op.inputs[0].shape
    return 0 if shape is not None and len(shape) == 4 else None


@ncnn("F.scaled_dot_product_attention", batch=_heads, dtypes="checked")
def scaled_dot_product_attention(op: Op) -> Blob:
    """ncnn's SDPA takes (heads, queries, features)."""
    if op.number("dropout_p", 0.0) != 0:
        op.refuse("drops out", "set dropout_p to 0 in eval mode")
    names = ("query", "key", "value")
    inputs = [_with_heads(op, op.need(name, index)) for index, name in enumerate(names)]
    query, key, _ = inputs
    mask = op.argument("attn_mask", 3)
    if op.flag("is_causal"):
        if mask is not None:
            op.refuse("is causal and has a mask", "put both into one mask")
        mask = op.constant(_causal(op, *op.known((query.shape[-2], key.shape[-2]))))
    scale = {} if op.params.get("scale") is None else {"scale": op.number("scale")}
    call = SDPA(attn_mask=int(mask is not None), **scale)
    if mask is not None:
        inputs.append(_attention_mask(op, mask, query, key))
    shape = (*query.shape[:-1], inputs[2].shape[-1])
    made = op.emit(call, *inputs, shape=shape)
    return op.view(made, op.shape(), made.batch if len(op.shape()) == made.rank else None)


def _with_heads(op: Op, x: Blob) -> Blob:
    """(batch, heads, positions, features); without a batch or heads those are made."""
    if x.rank > 4 or x.rank < 2:
        op.refuse(f"takes tensors of rank {x.rank}", "give it (batch, heads, positions, features)")
    shape = (*(1,) * (4 - x.rank), *x.shape)
    return op.view(x, shape, 0)


def _attention_mask(op: Op, mask: Blob, query: Blob, key: Blob) -> Blob:
    """(queries, keys), or (heads, queries, keys), added or true where attended to."""
    if mask.dtype == "bool":
        mask = chosen(op, mask, 0.0, -math.inf)
    heads, rows = op.sizes(query)[1:3]
    columns = op.known(key.shape[-2:-1])[0]
    sizes = (*(1,) * (4 - mask.rank), *op.sizes(mask))
    mask = op.view(mask, sizes, None)
    if sizes[:2] == (1, 1):
        return op.view(expanded(op, mask, (1, 1, rows, columns)), (rows, columns), None)
    if sizes[1] == 1:
        mask = expanded(op, mask, (sizes[0], 1, rows, columns))
        return op.view(mask, (sizes[0], rows, columns), 0)
    return op.lay(expanded(op, mask, (sizes[0], heads, rows, columns)), 0)


def _causal(op: Op, rows: int, columns: int) -> Attribute:
    """0 up to the diagonal, from where on it is minus infinity."""

    def values() -> Array:
        allowed = np.tri(rows, columns, dtype=bool)
        return np.where(allowed, np.float32(0), np.float32(-np.inf))

    return op.made((rows, columns), values)
