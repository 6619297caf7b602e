"""Scaled dot-product attention, of which decompositions leave the products and the softmax."""

from __future__ import annotations

import math

import numpy as np

from converter.ir import Graph, Operand, Param
from converter.passes.decomposed.base import Decomposed
from converter.passes.pattern import Match
from converter.passes.terms import static_shape

ORIGIN = "scaled_dot_product_attention"
SCORES = """
    pnnx.Expression   scale  1 1 query a expr=mul(@0,%root)
    Tensor.permute    flip   1 1 key b
    pnnx.Expression   scale2 1 1 b c expr=mul(@0,%root)
    torch.matmul      scores 2 1 a c {scores}
"""
SOFTMAX = """
    F.softmax         softmax 1 1 e p dim=-1
    torch.eq          eq      1 1 e f other=-inf
    torch.logical_not some    1 1 f g
    torch.any         any     1 1 g h dim=-1 keepdim=True
    torch.logical_not none    1 1 h i
    pnnx.Attribute    zeros   0 1 z
    torch.where       where   3 1 i z p w
    torch.matmul      last    2 1 w value out
"""
"""A row of which every score is minus infinity gives zeros."""

PLAIN = SCORES.format(scores="e") + SOFTMAX.lstrip("\n")
MASKED = (
    SCORES.format(scores="d")
    + "    pnnx.Expression add 2 1 d attn_mask e expr=add(@0,@1)"
    + SOFTMAX
)


class Attention(Decomposed):
    """Before: `softmax(query * r @ (key.mT * r) + mask) @ value`, with zeros for rows without keys.

    After: `F.scaled_dot_product_attention query key value mask scale=r*r`.
    """

    def rewrite(self, graph: Graph, match: Match) -> bool:
        query, key, value = (match.operands[name] for name in ("query", "key", "value"))
        op, root = match["last"], match.captured["root"]
        zeros = match["zeros"].outputs[0].stored
        if op.origin != self.origin or zeros is None or not isinstance(root, float):
            return False
        if not zeros.is_full(0) or not flips_last(match):
            return False
        params: dict[str, Param] = {"dropout_p": 0.0, "is_causal": False}
        inputs, names = [query, key, value], ["query", "key", "value"]
        mask = match.operands.get("attn_mask")
        if mask is None:
            params["attn_mask"] = None
        elif is_causal(mask):
            params |= {"attn_mask": None, "is_causal": True}
        else:
            given = condition(mask) or mask
            own = given.producer is not None and given.producer.origin == ORIGIN
            if own and given.stored is None:
                return False  # a mask of its own, which is known once constants are folded
            inputs.append(given)
            names.append("attn_mask")
        shape = static_shape(query)
        if shape is None:
            return False
        if not math.isclose(root, shape[-1] ** -0.25, rel_tol=1e-12):
            params["scale"] = root * root
        repeated = [ungrouped(operand, shape) for operand in (key, value)]
        if repeated[0] is not None and repeated[1] is not None:
            inputs[1:3] = [operand for operand in repeated if operand is not None]
            params["enable_gqa"] = True
        op.type, op.params = self.function, params
        graph.set_inputs(op, inputs, names)
        return True


def flips_last(match: Match) -> bool:
    rank = len(match["flip"].inputs[0].shape or ())
    return match["flip"].params["dims"] == (*range(rank - 2), rank - 1, rank - 2)


def is_causal(mask: Operand) -> bool:
    """Whether it is a stored matrix that hides the keys after each query."""
    stored = mask.stored
    if stored is None or len(stored.shape) != 2:
        return False
    hidden = np.triu(np.ones(stored.shape, dtype=bool), k=1)
    return np.array_equal(stored.array(), np.where(hidden, -np.inf, 0.0))


def condition(mask: Operand) -> Operand | None:
    """The booleans that a mask was worked out from: `where(condition, 0, -inf)`."""
    op = mask.producer
    if op is None or op.type != "torch.where" or len(op.inputs) != 3:
        return None
    numbers = [operand.stored for operand in op.inputs[1:]]
    wanted = zip(numbers, (0.0, -math.inf), strict=True)
    fits = all(one is not None and one.is_full(number) for one, number in wanted)
    return op.inputs[0] if fits else None


def ungrouped(operand: Operand, query: tuple[int, ...]) -> Operand | None:
    """The heads that were repeated, each for a group of queries: `repeat_interleave(x, n, -3)`."""
    join = operand.producer if operand.producer and operand.producer.origin == ORIGIN else None
    spread = join.inputs[0].producer if join is not None and join.type == "Tensor.reshape" else None
    split = (
        spread.inputs[0].producer if spread is not None and spread.type == "Tensor.expand" else None
    )
    if spread is None or split is None or split.type != "torch.unsqueeze":
        return None
    source, wide, heads = map(static_shape, (split.inputs[0], spread.outputs[0], operand))
    if source is None or wide is None or heads is None or len(source) < 3:
        return None
    groups = query[-3] // source[-3]
    spread_out = (*source[:-2], groups, *source[-2:])
    repeated = (*source[:-3], query[-3], *source[-2:])
    return split.inputs[0] if wide == spread_out and heads == repeated else None


ATTENTION = tuple(
    Attention(ORIGIN, f"F.{ORIGIN}", pattern, inputs)
    for pattern, inputs in (
        (PLAIN, ("query", "key", "value")),
        (MASKED, ("query", "key", "value", "attn_mask")),
    )
)
