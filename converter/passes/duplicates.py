"""Compute once what is computed twice."""

from __future__ import annotations

from collections.abc import Hashable

from converter.ir import Attribute, Graph, Operator
from converter.passes.base import Pass

SMALL = 1 << 16
"""Bytes up to which the values of stored tensors are compared."""

KEPT = frozenset({"pnnx.Input", "pnnx.Output", "torch.clone"})
"""A clone is asked for to be another tensor."""

RANDOM = frozenset(
    {
        "torch.bernoulli",
        "torch.multinomial",
        "torch.normal",
        "torch.poisson",
        "torch.rand",
        "torch.rand_like",
        "torch.randint",
        "torch.randint_like",
        "torch.randn",
        "torch.randn_like",
        "torch.randperm",
        "F.gumbel_softmax",
    }
)
"""Operators that give something else each time."""


class MergeDuplicates(Pass):
    """Before: `F.relu x -> a`, `F.relu x -> b`. After: `F.relu x -> a`; readers of b read a.

    Operators are the same with the same type, params, stored tensors and inputs, in order. Stored
    tensors are the same if they are one, or small and of the same values.
    """

    def run(self, graph: Graph) -> int:
        seen: dict[Hashable, Operator] = {}
        gone: list[Operator] = []
        for op in graph.operators:
            if op.type in KEPT or op.type in RANDOM or op.opaque:
                continue
            first = seen.setdefault(key(op), op)
            if first is not op:
                for old, new in zip(op.outputs, first.outputs, strict=True):
                    graph.replace_uses(old, new)
                gone.append(op)
        if gone:
            graph.remove_all(gone)
        return len(gone)


def key(op: Operator) -> Hashable:
    """What tells operators apart; `1`, `1.0` and `True` are different params."""
    return (
        op.type,
        repr(sorted(op.params.items())),
        tuple(sorted((name, tensor_key(attribute)) for name, attribute in op.attrs.items())),
        tuple(map(id, op.inputs)),
        tuple(op.input_names),
        len(op.outputs),
    )


def tensor_key(attribute: Attribute) -> tuple[Hashable, ...]:
    """What tells tensors apart: where they are, or what they hold if that is quick to see."""
    if attribute.nbytes > SMALL:
        return "", (), attribute.frozen, id(attribute.data)
    return attribute.dtype, attribute.shape, attribute.frozen, attribute.array().tobytes()
