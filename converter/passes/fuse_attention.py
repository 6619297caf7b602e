"""Write attention that is spelled out, from its projections to its output, as a module.

The forms are those that pnnx knows: scores or the query's projection that are multiplied by the
scale, or torch's scaled_dot_product_attention, with a mask for each batch or none.
"""

from __future__ import annotations

import math
from typing import ClassVar, NamedTuple

from converter.ir import Graph, Operand, Operator, Param
from converter.passes.attention import (
    Attention,
    NoAttentionError,
    between,
    expect,
    fits,
    joined_heads,
    weighted,
    whole,
    write,
)
from converter.passes.base import Pass
from converter.passes.layout import LayoutError, contiguous
from converter.passes.term_readers import read_graph
from converter.passes.terms import Term, Terms, View


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
    inside = between(attention)
    if inside is None or not fits(attention):
        return False
    mask = attention.mask
    write(graph, attention, inside, mask and per_head(graph, attention, mask))
    return True


# --- finding


class Core(NamedTuple):
    """What goes into an attention, each split into heads: and the scale, where it is given."""

    query: View
    key: View
    value: View
    scale: float | None
    mask: View | None


def find(terms: Terms, output: Operator) -> Attention:
    """The attention whose output goes into a linear layer. Raises NoAttentionError, LayoutError."""
    rows = terms.view(output.inputs[0])
    if rows is None or len(rows.shape) != 3:
        raise NoAttentionError
    batch, length, width = rows.shape
    core = parts(terms, terms.term(rows))
    depth, source = core.query.shape[-1], core.key.shape[-2]
    usual = 1 / math.sqrt(depth)
    if not math.isclose(core.scale or usual, usual, rel_tol=1e-6):
        raise NoAttentionError
    heads = width // depth
    if rows.layout != joined_heads(batch, length, heads, depth):
        raise NoAttentionError
    layers = (
        projection(terms, core.query, batch, length, heads),
        projection(terms, core.key, batch, source, heads),
        projection(terms, core.value, batch, source, heads),
    )
    shape = (batch, 1, length, source)
    mask = None if core.mask is None else mask_operand(terms, core.mask, shape)
    return Attention(layers, output, heads, mask)


def parts(terms: Terms, term: Term) -> Core:
    """Raises NoAttentionError, LayoutError."""
    if term.kind == "attention":
        query, key, value, *masks = term.inputs
        causal, scale = term.params
        if causal or not isinstance(scale, float | None):
            raise NoAttentionError
        return Core(query, key, value, scale, masks[0] if masks else None)
    weights, value = expect(term, "bmm").inputs
    scores, mask = whole(terms, weighted(terms, weights)), None
    if scores.kind == "add":
        one, other = scores.inputs
        is_mask = terms.term(one).kind not in ("bmm", "multiply")
        mask, product = (one, other) if is_mask else (other, one)
        scores = whole(terms, product)
    if scores.kind == "bmm":
        query, key = scores.inputs
        query, scale = unscaled(terms, query)
    else:
        query, key = expect(whole(terms, expect(scores, "multiply").inputs[0]), "bmm").inputs
        scale = scores.params[0]
    assert isinstance(scale, float)
    return Core(query, key.permute(0, 2, 1), value, scale, mask)


def unscaled(terms: Terms, query: View) -> tuple[View, Param]:
    """What is multiplied by a number, all of it and in order, before it is split into heads."""
    scaled = expect(terms.term(query), "multiply")
    (rows,) = scaled.inputs
    if rows.layout != contiguous(rows.shape):
        raise NoAttentionError
    return View(rows.number, query.layout), scaled.params[0]


def projection(terms: Terms, view: View, batch: int, length: int, heads: int) -> Operator:
    """The linear layer whose result (batch, length, features) a view splits into heads."""
    op = terms.operator(view)
    split = contiguous((batch, length, heads, view.shape[-1])).permute((0, 2, 1, 3))
    if op is None or view.layout.reshape(split.shape) != split:
        raise NoAttentionError
    if (op.outputs[0].shape or ())[:2] != (batch, length):
        raise NoAttentionError
    return op


def mask_operand(terms: Terms, mask: View, shape: tuple[int, ...]) -> Operand:
    """The operand that holds a mask of this shape, with numbers to add."""
    operands = [*terms.holders(mask), *filter(None, [terms.operand(mask)])]
    fitting = [one for one in operands if one.shape == shape and one.dtype != "bool"]
    if not fitting:
        raise NoAttentionError
    return fitting[-1]


# --- writing


def per_head(graph: Graph, attention: Attention, mask: Operand) -> Operand:
    """A mask as the module takes it: (length, source), or one for each head of each batch."""
    batch, _, length, source = (int(dim) for dim in mask.shape or ())
    last, heads = attention.output, attention.heads
    shape: tuple[int, ...] = (length, source)
    if batch > 1:
        sizes = (batch, heads, length, source)
        mask = moved(graph, last, "Tensor.expand", mask, sizes, "sizes")
        shape = (batch * heads, length, source)
    return moved(graph, last, "Tensor.reshape", mask, shape, "shape")


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
