"""Fold weight norm: the direction and length of a weight become the weight."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from converter.ir import Array, Attribute, Graph, Operator
from converter.passes.base import Pass


class FoldWeightNorm(Pass):
    """Before: `torch._weight_norm v g -> w`, with v and g stored. After: `pnnx.Attribute -> w`.

    w = v * g / |v|, the norm taken over every dim but one (Salimans and Kingma, 2016; the dim is
    that of torch.nn.utils.parametrizations.weight_norm, -1 for the norm of the whole tensor).
    """

    changes_arithmetic: ClassVar[bool] = True

    def run(self, graph: Graph) -> int:
        return sum(fold(graph, op) for op in graph.of_type("torch._weight_norm"))


def fold(graph: Graph, op: Operator) -> bool:
    v, g = op.input("v").stored, op.input("g").stored
    dim = op.params["dim"]
    if v is None or g is None or not isinstance(dim, int) or not (v.is_quick and g.is_quick):
        return False
    kept = None if dim == -1 else dim % len(v.shape)

    def values() -> Array:
        direction, length = v.array(), g.array()
        wide = direction.astype(np.float64)
        axes = tuple(axis for axis in range(wide.ndim) if axis != kept)
        norm = np.sqrt(np.sum(wide * wide, axis=axes, keepdims=True))
        length = length.astype(np.float64)
        if kept is None:
            length = length.reshape(())
        weight: Array = (wide * (length / norm)).astype(direction.dtype)
        return weight

    op.type, op.params = "pnnx.Attribute", {}
    op.attrs["data"] = Attribute.later(v.dtype, v.shape, values, [v, g])
    graph.set_inputs(op, [])
    return True
