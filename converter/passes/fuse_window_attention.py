"""Write attention within windows, as Swin transformers spell it, as a module.

One linear layer makes query, key and value, and the query is scaled. A stored bias for each head is
added to the scores, and a stored mask for each window where windows were shifted.
"""

from __future__ import annotations

import math
from functools import partial
from typing import ClassVar, NamedTuple

import numpy as np

from converter.ir import Array, Attribute, Graph, LazyData, Operand, Operator
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
from converter.passes.terms import Terms, View


class FuseWindowAttention(Pass):
    """Before: `nn.Linear`, its result split into three and into heads, attention, `nn.Linear -> y`.

    After: `nn.MultiheadAttention x mask -> y`, where a mask for each head of each window is stored.
    """

    changes_arithmetic: ClassVar[bool] = True

    def run(self, graph: Graph) -> int:
        if not graph.of_type("F.softmax"):
            return 0
        terms = read_graph(graph, lambda op: True)
        return sum(fuse(graph, terms, op) for op in graph.of_type("nn.Linear"))


class Added(NamedTuple):
    """A stored tensor that is added to scores: its shape there, and that over which it spreads."""

    tensor: Attribute
    shape: tuple[int, ...]
    spread: tuple[int, ...]


def fuse(graph: Graph, terms: Terms, output: Operator) -> bool:
    try:
        attention, masks = find(terms, output)
    except (NoAttentionError, LayoutError):
        return False
    inside = between(attention)
    if inside is None or not fits(attention):
        return False
    write(graph, attention, inside, mask_operand(graph, attention, masks))
    return True


# --- finding


def find(terms: Terms, output: Operator) -> tuple[Attention, list[Added]]:
    """The attention whose output goes into a linear layer. Raises NoAttentionError, LayoutError."""
    rows = terms.view(output.inputs[0])
    if rows is None or len(rows.shape) != 3:
        raise NoAttentionError
    windows, length, width = rows.shape
    weights, value = expect(terms.term(rows), "bmm").inputs
    scores, masks = bare(terms, weighted(terms, weights))
    query, key = expect(terms.term(scores), "bmm").inputs
    scaled = expect(whole(terms, query), "multiply")
    heads, depth = width // query.shape[-1], query.shape[-1]
    (scale,), (query,) = scaled.params, scaled.inputs
    assert isinstance(scale, float)
    if not math.isclose(scale, 1 / math.sqrt(depth), rel_tol=1e-6):
        raise NoAttentionError
    if rows.layout != joined_heads(windows, length, heads, depth):
        raise NoAttentionError
    bias, *shifted = (mask.shape for mask in masks)
    if bias != (1, heads, length, length) or any(len(shape) != 5 for shape in shifted):
        raise NoAttentionError
    if any(mask.tensor.dtype != output.attrs["weight"].dtype for mask in masks):
        raise NoAttentionError
    layer = projection(terms, [query, key.permute(0, 2, 1), value], windows, length, heads)
    return Attention((layer,), output, heads), masks


def bare(terms: Terms, view: View) -> tuple[View, list[Added]]:
    """Scores without the stored tensors that are added to them, and these, from the first one."""
    masks: list[Added] = []
    while (term := whole(terms, view)).kind == "add":
        known = {one: tensor for one in term.inputs if (tensor := stored(terms, one)) is not None}
        others = [one for one in term.inputs if one not in known]
        spread = np.broadcast_shapes(*(one.shape for one in term.inputs))
        if len(others) != 1 or math.prod(others[0].shape) != math.prod(spread):
            raise NoAttentionError
        (view,), ((mask, tensor),) = others, known.items()
        masks.insert(0, Added(tensor, mask.shape, spread))
    if not masks:
        raise NoAttentionError
    return view, masks


def stored(terms: Terms, view: View) -> Attribute | None:
    operand = terms.operand(view)
    return None if operand is None else operand.stored


def projection(terms: Terms, views: list[View], windows: int, length: int, heads: int) -> Operator:
    """The linear layer whose result (windows, length, 3 * features) the three views split."""
    op, depth = terms.operator(views[0]), views[0].shape[-1]
    if op is None or op.outputs[0].shape != (windows, length, 3 * heads * depth):
        raise NoAttentionError
    parts = contiguous((windows, length, 3, heads, depth))
    for place, view in enumerate(views):
        split = parts.select(2, place).permute((0, 2, 1, 3))
        if view.number != views[0].number or view.layout.reshape(split.shape) != split:
            raise NoAttentionError
    return op


# --- writing


def mask_operand(graph: Graph, attention: Attention, masks: list[Added]) -> Operand:
    """What is added to the scores, for each head of each window, as one stored tensor."""
    last = attention.output
    windows, length, _ = last.outputs[0].shape or ()
    shape = (int(windows) * attention.heads, int(length), int(length))
    dtype = last.attrs["weight"].dtype
    mask = graph.fresh(f"{last.name}_mask", shape, dtype)
    attrs = {"data": Attribute(dtype, shape, LazyData(partial(summed, masks, shape)))}
    graph.add("pnnx.Attribute", mask.name, (), [mask], attrs=attrs, before=last)
    return mask


def summed(masks: list[Added], shape: tuple[int, ...]) -> Array:
    first, *rest = (
        np.broadcast_to(mask.tensor.array().reshape(mask.shape), mask.spread).reshape(shape)
        for mask in masks
    )
    return sum(rest, start=first)
