"""Write attention that is spelled out, from its projections to its output, as a module.

The forms are those that pnnx knows: scores that are multiplied by the scale, or torch's
scaled_dot_product_attention, with a mask for each batch or none.
"""

from __future__ import annotations

import math
from typing import ClassVar, NamedTuple

import numpy as np

from converter.ir import Array, Attribute, Graph, LazyData, Operand, Operator, Param
from converter.passes.base import Pass
from converter.passes.layout import LayoutError, contiguous
from converter.passes.region import region
from converter.passes.term_readers import read_graph
from converter.passes.terms import Term, Terms, View


class Attention(NamedTuple):
    """The linear layers of an attention, and the mask that is added to its scores."""

    query: Operator
    key: Operator
    value: Operator
    output: Operator
    heads: int
    mask: Operand | None

    @property
    def inputs(self) -> list[Operand]:
        return [op.inputs[0] for op in (self.query, self.key, self.value)]


class NoAttentionError(Exception):
    """The operators are not those of an attention."""


class FuseAttention(Pass):
    """Before: three `nn.Linear`, their results split into heads, attention, `nn.Linear -> y`.

    After: `nn.MultiheadAttention x -> y`. A query all of whose keys are masked by minus infinity
    gives 0 there, where a softmax gives NaN.
    """

    changes_arithmetic: ClassVar[bool] = True

    def run(self, graph: Graph) -> int:
        if not graph.of_type("F.softmax", "F.scaled_dot_product_attention"):
            return 0
        terms = read_graph(graph, lambda op: True)
        return sum(fuse(graph, terms, op) for op in graph.of_type("nn.Linear"))


def fuse(graph: Graph, terms: Terms, output: Operator) -> bool:
    try:
        attention = find(terms, output)
    except (NoAttentionError, LayoutError):
        return False
    return fits(attention) and write(graph, attention)


# --- finding


def find(terms: Terms, output: Operator) -> Attention:
    """The attention whose output goes into a linear layer. Raises NoAttentionError, LayoutError."""
    rows = terms.view(output.inputs[0])
    if rows is None or len(rows.shape) != 3:
        raise NoAttentionError
    batch, length, width = rows.shape
    core = terms.term(rows)
    query, key, value, scale, mask = parts(terms, core)
    depth = query.shape[-1]
    if not math.isclose(scale or 1 / math.sqrt(depth), 1 / math.sqrt(depth), rel_tol=1e-6):
        raise NoAttentionError
    heads, source = width // depth, key.shape[-2]
    by_head = contiguous((batch, heads, length, depth))
    if rows.layout != by_head.permute((0, 2, 1, 3)).reshape(rows.shape):
        raise NoAttentionError
    return Attention(
        projection(terms, query, (batch, length, heads, depth)),
        projection(terms, key, (batch, source, heads, depth)),
        projection(terms, value, (batch, source, heads, depth)),
        output,
        heads,
        None if mask is None else mask_operand(terms, mask, (batch, 1, length, source)),
    )


def parts(terms: Terms, core: Term) -> tuple[View, View, View, float | None, View | None]:
    """Query, key, value, the scale if it is given, and the mask."""
    if core.kind == "attention":
        query, key, value, *rest = core.inputs
        causal, scale = core.params
        if causal or not isinstance(scale, float | None):
            raise NoAttentionError
        return query, key, value, scale, rest[0] if rest else None
    weights, value = expect(core, "bmm").inputs
    softmax = expect(whole(terms, weights), "softmax")
    scores, mask = whole(terms, softmax.inputs[0]), None
    if softmax.params != (-1,):
        raise NoAttentionError
    if scores.kind == "add":
        one, other = scores.inputs
        mask, scaled = (one, other) if terms.term(other).kind == "multiply" else (other, one)
        scores = whole(terms, scaled)
    scale = expect(scores, "multiply").params[0]
    assert isinstance(scale, float)
    query, key = expect(whole(terms, scores.inputs[0]), "bmm").inputs
    return query, key.permute(0, 2, 1), value, scale, mask


def whole(terms: Terms, view: View) -> Term:
    """The term of a view that shows all of it, in order."""
    if view.layout != contiguous(view.shape):
        raise NoAttentionError
    return terms.term(view)


def expect(term: Term, kind: str) -> Term:
    if term.kind != kind:
        raise NoAttentionError
    return term


def projection(terms: Terms, view: View, shape: tuple[int, int, int, int]) -> Operator:
    """The linear layer whose result, (batch, length, heads and their features), a view splits."""
    split = contiguous(shape).permute((0, 2, 1, 3))
    op = terms.operator(view)
    if op is None or view.layout.reshape(split.shape) != split:
        raise NoAttentionError
    if (op.outputs[0].shape or ())[:2] != shape[:2]:
        raise NoAttentionError
    return op


def mask_operand(terms: Terms, mask: View, shape: tuple[int, ...]) -> Operand:
    """The operand that holds a mask of this shape, with numbers to add."""
    operands = [*terms.holders(mask), *filter(None, [terms.operand(mask)])]
    if not operands or operands[-1].shape != shape or operands[-1].dtype == "bool":
        raise NoAttentionError
    return operands[-1]


def fits(attention: Attention) -> bool:
    """Whether a module can hold these layers."""
    layers = (attention.query, attention.key, attention.value, attention.output)
    width = attention.output.params["in_features"]
    return (
        len({op.params["bias"] for op in layers}) == 1
        and {op.params["out_features"] for op in layers} == {width}
        and attention.query.params["in_features"] == width
        and len({op.attrs["weight"].dtype for op in layers}) == 1
    )


# --- writing


def write(graph: Graph, attention: Attention) -> bool:
    """Put a module in the place of the layers and of what is between them.

    False, with nothing changed, where other operators read what is in between.
    """
    last, mask = attention.output, attention.mask
    (output,) = last.outputs
    inside = region([output], {*attention.inputs, *filter(None, [mask])})
    if inside is None:
        return False
    inputs, names = attention.inputs, ["query", "key", "value"]
    if len(set(inputs)) == 1:
        inputs, names = inputs[:1], ["input"]
    if mask is not None:
        inputs, names = [*inputs, per_head(graph, attention, mask)], [*names, "attn_mask"]
    op = graph.add(
        "nn.MultiheadAttention",
        f"{last.name}_attention",
        inputs,
        [output],
        input_names=names,
        params=params(attention),
        attrs=tensors(attention),
        before=last,
    )
    op.where = last.where
    graph.remove_all(inside)
    return True


def per_head(graph: Graph, attention: Attention, mask: Operand) -> Operand:
    """A mask as the module takes it: (length, source), or one for each head of each batch."""
    batch, _, length, source = (int(dim) for dim in mask.shape or ())
    last = attention.output
    if batch > 1:
        sizes = (batch, attention.heads, length, source)
        mask = moved(graph, last, "Tensor.expand", mask, sizes, "sizes")
        return moved(
            graph, last, "Tensor.reshape", mask, (batch * attention.heads, length, source), "shape"
        )
    return moved(graph, last, "Tensor.reshape", mask, (length, source), "shape")


def moved(
    graph: Graph, last: Operator, type: str, mask: Operand, shape: tuple[int, ...], name: str
) -> Operand:
    output = graph.fresh(f"{mask.name}_per_head", shape, mask.dtype)
    graph.add(
        type,
        output.name,
        [mask],
        [output],
        input_names=["input"],
        params={name: shape},
        before=last,
    )
    return output


def params(attention: Attention) -> dict[str, Param]:
    return {
        "add_bias_kv": False,
        "add_zero_attn": False,
        "batch_first": True,
        "bias": attention.output.params["bias"],
        "embed_dim": attention.output.params["in_features"],
        "kdim": attention.key.params["in_features"],
        "num_heads": attention.heads,
        "vdim": attention.value.params["in_features"],
    }


def tensors(attention: Attention) -> dict[str, Attribute]:
    """The module's tensors, by its names for them."""
    layers = (attention.query, attention.key, attention.value)
    weights = [op.attrs["weight"] for op in layers]
    found = {"out_proj.weight": attention.output.attrs["weight"]}
    if len({weight.shape for weight in weights}) == 1:
        found["in_proj_weight"] = joined(weights)
    else:
        found |= {f"{name}_proj_weight": one for name, one in zip("qkv", weights, strict=True)}
    if attention.output.params["bias"]:
        found["out_proj.bias"] = attention.output.attrs["bias"]
        found["in_proj_bias"] = joined([op.attrs["bias"] for op in layers])
    return found


def joined(parts: list[Attribute]) -> Attribute:
    """Tensors one after the other, put together when they are written."""

    def values() -> Array:
        return np.concatenate([part.array() for part in parts])

    shape = (sum(part.shape[0] for part in parts), *parts[0].shape[1:])
    return Attribute(parts[0].dtype, shape, LazyData(values))
