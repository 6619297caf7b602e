"""Fold spectral norm: a weight and its largest singular value become the weight."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from converter.ir import Array, Attribute, Graph
from converter.passes.pattern import Match, PatternPass

REAL = {"f16", "bf16", "f32", "f64"}


class FoldSpectralNorm(PatternPass):
    """Before: `w / dot(u, mv(m, v))`, all of them stored. After: `pnnx.Attribute -> w`.

    m is w as a matrix, u and v are its singular vectors as far as training found them, so that
    u·(m v) is the singular value (Miyato et al., 2018): `torch.nn.utils.spectral_norm` and
    `torch.nn.utils.parametrizations.spectral_norm` in eval mode.
    """

    changes_arithmetic: ClassVar[bool] = True
    pattern = """
        pnnx.Input           w     0 1 w
        pnnx.Input           m     0 1 m
        pnnx.Input           u     0 1 u
        pnnx.Input           v     0 1 v
        torch.mv             mv    2 1 m v a
        torch.dot|torch.vdot sigma 2 1 u a b
        pnnx.Expression      last  2 1 w b out expr=div(@0,@1)
        pnnx.Output          out   1 0 out
    """

    def rewrite(self, graph: Graph, match: Match) -> bool:
        w, m, u, v = (match.operands[name].stored for name in "wmuv")
        if w is None or m is None or u is None or v is None:
            return False
        if not all(one.is_quick for one in (w, m, u, v)):
            return False
        if {one.dtype for one in (w, m, u, v)} - REAL or match.operands["out"].dtype != w.dtype:
            return False

        def values() -> Array:
            one, matrix, left, right = (stored.array() for stored in (w, m, u, v))
            product = matrix.astype(np.float64) @ right.astype(np.float64)
            sigma = left.astype(np.float64) @ product
            weight: Array = (one.astype(np.float64) / sigma).astype(one.dtype)
            return weight

        op = match["last"]
        op.type, op.params = "pnnx.Attribute", {}
        op.attrs["data"] = Attribute.later(w.dtype, w.shape, values, [w, m, u, v])
        graph.set_inputs(op, [])
        return True
