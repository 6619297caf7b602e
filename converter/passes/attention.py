"""What an attention that a model spells out consists of, and the module that is written for it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from converter.ir import DTYPES, Array, Attribute, Graph, LazyData, Operand, Operator, Param
from converter.passes.layout import Layout, contiguous
from converter.passes.region import region
from converter.passes.terms import Term, Terms, View


class Attention(NamedTuple):
    """The linear layers of an attention, and the mask that is added to its scores."""

    layers: tuple[Operator, ...]
    """One each for query, key and value, or one that makes all three of the same tensor."""
    output: Operator
    heads: int
    mask: Operand | None = None

    @property
    def inputs(self) -> list[Operand]:
        return [op.inputs[0] for op in self.layers]

    @property
    def width(self) -> int:
        return self.output.attrs["weight"].shape[1]

    @property
    def bias(self) -> bool:
        return any("bias" in op.attrs for op in (*self.layers, self.output))


class NoAttentionError(Exception):
    """The operators are not those of an attention."""


# --- recognizing parts


def whole(terms: Terms, view: View) -> Term:
    """The term of a view that shows all of it, in order. Raises NoAttentionError."""
    if view.layout != contiguous(view.shape):
        raise NoAttentionError
    return terms.term(view)


def expect(term: Term, kind: str) -> Term:
    """A term of that kind. Raises NoAttentionError."""
    if term.kind != kind:
        raise NoAttentionError
    return term


def weighted(terms: Terms, weights: View) -> View:
    """The scores whose softmax, over the last dim, a view shows. Raises NoAttentionError."""
    softmax = expect(whole(terms, weights), "softmax")
    if softmax.params != (-1,):
        raise NoAttentionError
    return softmax.inputs[0]


def joined_heads(batch: int, length: int, heads: int, depth: int) -> Layout:
    """Results (batch, heads, length, depth) as (batch, length, heads * depth)."""
    split = contiguous((batch, heads, length, depth)).permute((0, 2, 1, 3))
    return split.reshape((batch, length, heads * depth))


def fits(attention: Attention) -> bool:
    """Whether a module can hold these layers."""
    layers, output, width = attention.layers, attention.output, attention.width
    rows = [op.attrs["weight"].shape[0] for op in layers]
    return (
        len({op.attrs["weight"].dtype for op in (*layers, output)}) == 1
        and len(set(rows)) == 1
        and sum(rows) == 3 * width
        and output.attrs["weight"].shape == (width, width)
        and layers[0].attrs["weight"].shape[1] == width
    )


# --- writing


def between(attention: Attention) -> set[Operator] | None:
    """The operators of an attention, None where others read what is in between."""
    return region(attention.output.outputs, {*attention.inputs, *filter(None, [attention.mask])})


def write(
    graph: Graph, attention: Attention, inside: set[Operator], attn_mask: Operand | None
) -> None:
    """Put a module in the place of the operators of an attention.

    `attn_mask` is (length, source), or (batch * heads, length, source), and is added to the scores.
    """
    last = attention.output
    inputs, names = attention.inputs, ["query", "key", "value"]
    if len(set(inputs)) == 1:
        inputs, names = inputs[:1], ["input"]
    if attn_mask is not None:
        inputs, names = [*inputs, attn_mask], [*names, "attn_mask"]
    op = graph.add(
        "nn.MultiheadAttention",
        f"{last.name}_attention",
        inputs,
        last.outputs,
        input_names=names,
        params=params(attention),
        attrs=tensors(attention),
        before=last,
    )
    op.where = last.where
    graph.remove_all(inside)


def params(attention: Attention) -> dict[str, Param]:
    widths = [op.params["in_features"] for op in attention.layers]
    return {
        "add_bias_kv": False,
        "add_zero_attn": False,
        "batch_first": True,
        "bias": attention.bias,
        "embed_dim": attention.width,
        "kdim": widths[len(widths) // 2],
        "num_heads": attention.heads,
        "vdim": widths[-1],
    }


def tensors(attention: Attention) -> dict[str, Attribute]:
    """The module's tensors, by its names for them."""
    layers, output = attention.layers, attention.output
    weights = [op.attrs["weight"] for op in layers]
    found = {"out_proj.weight": output.attrs["weight"]}
    if len({weight.shape for weight in weights}) == 1:
        found["in_proj_weight"] = joined(weights)
    else:
        found |= {f"{name}_proj_weight": one for name, one in zip("qkv", weights, strict=True)}
    if attention.bias:
        found["out_proj.bias"] = bias(output)
        found["in_proj_bias"] = joined(list(map(bias, layers)))
    return found


def bias(layer: Operator) -> Attribute:
    """The bias of a linear layer; zeros where it has none, as the module has all or none."""
    weight = layer.attrs["weight"]
    rows = weight.shape[:1]
    zeros = Attribute(weight.dtype, rows, LazyData(lambda: np.zeros(rows, DTYPES[weight.dtype])))
    return layer.attrs.get("bias", zeros)


def joined(parts: list[Attribute]) -> Attribute:
    """Tensors one after the other, put together when they are written."""

    def values() -> Array:
        return np.concatenate([part.array() for part in parts])

    if len(parts) == 1:
        return parts[0]
    shape = (sum(part.shape[0] for part in parts), *parts[0].shape[1:])
    return Attribute(parts[0].dtype, shape, LazyData(values))
