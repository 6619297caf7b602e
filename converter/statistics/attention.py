"""Attention: products of queries and keys, their softmax, products with the values."""

from __future__ import annotations

from math import prod

from converter.ir import Operator
from converter.statistics.sizes import dims, tensor


def parts(op: Operator) -> list[tuple[int, ...]]:
    """The shapes of query, key and value."""
    own = [
        dims(operand)
        for place, operand in enumerate(op.inputs)
        if not op.input_names or op.input_names[place] in ("", "query", "key", "value", "input")
    ]
    return [*own, *own[-1:] * (3 - len(own))]


def scores(op: Operator) -> int:
    """The number of scores: one for each head, query and key."""
    query, key, _ = parts(op)
    if op.type == "F.scaled_dot_product_attention":
        return prod(query[:-1]) * key[-2]
    heads = op.params.get("num_heads")
    assert isinstance(heads, int)
    length = 1 if op.params.get("batch_first") and len(key) == 3 else 0
    added = sum(op.params.get(name) is True for name in ("add_bias_kv", "add_zero_attn"))
    return prod(query[:-1]) * (key[length] + added) * heads


def attention(op: Operator) -> int:
    """Of q k^T, the softmax, and the product with v; of the mask, one for each score."""
    query, _, value = parts(op)
    return scores(op) * (2 * query[-1] + 2 * value[-1] + 5 + masked(op))


def masked(op: Operator) -> bool:
    return op.has_input("attn_mask") or op.params.get("is_causal") is True


def multihead(op: Operator) -> int:
    """Of the four projections too."""
    query, key, value = parts(op)
    width, heads = query[-1], op.params.get("num_heads")
    assert isinstance(heads, int)
    count = scores(op)
    result = prod(query[:-1]) * width
    projected = [prod(part[:-1]) * width for part in (query, key, value)]
    bias = tensor(op, "in_proj_bias") is not None
    total = sum(
        (2 * part[-1] + bias) * made
        for part, made in zip((query, key, value), projected, strict=True)
    )
    total += (2 * width + bias) * result
    return total + count * (4 * width // heads + 5 + masked(op))
