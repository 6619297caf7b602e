"""Recognize nn.RMSNorm where a model spells it out, in whatever order it multiplies."""

from __future__ import annotations

from typing import ClassVar

from converter.ir import Graph, Operand, Operator
from converter.passes.base import Pass
from converter.passes.region import region
from converter.passes.spelled_norm import (
    EXPRESSION,
    Factors,
    Norm,
    fitted,
    is_last,
    is_sized,
    plus_eps,
    reduced,
    sizes,
    squared,
)


class RMSNorm(Pass):
    """Before: `x / sqrt(mean(x ** 2) + eps) * weight` over the last dims, one expression for each
    function; nobody else reads what is in between. After: `nn.RMSNorm x`.

    The weight is stored, or there is none. (Zhang and Sennrich, "Root Mean Square Layer
    Normalization", 2019.)
    """

    changes_arithmetic: ClassVar[bool] = True

    def run(self, graph: Graph) -> int:
        if not graph.of_type("torch.mean"):
            return 0
        return sum(fuse(graph, op) for op in reversed(graph.of_type(EXPRESSION)))


def fuse(graph: Graph, op: Operator) -> bool:
    output = op.outputs[0]
    norm = find(output) if output.consumers and is_sized(output) else None
    if norm is None or (norm.x.shape, norm.x.dtype) != (output.shape, output.dtype):
        return False
    inside = region([output], {norm.x})
    if inside is None or sizes(norm) is None or not is_last(norm):
        return False
    affine = {} if norm.weight is None else {"weight": norm.weight}
    op.type, op.attrs = "nn.RMSNorm", affine
    op.params = {
        "elementwise_affine": bool(affine),
        "eps": norm.eps,
        "normalized_shape": sizes(norm),
    }
    graph.set_inputs(op, [norm.x], ["input"])
    graph.remove_all(inside - {op})
    return True


def find(output: Operand) -> Norm | None:
    """`x / sqrt(mean(x ** 2) + eps)`, times a stored weight or not, if that is all there is."""
    roots = Factors.of(output).roots
    norm = root_mean_square(roots[0]) if len(roots) == 1 else None
    if norm is None:
        return None
    factors = Factors.of(output, norm.x)
    others = [factor for factor in factors.above if factor is not norm.x]
    if factors.below or factors.roots != roots or len(factors.above) != len(others) + 1:
        return None
    if not others:
        return norm
    weight = fitted(others[0], norm) if len(others) == 1 else None
    return None if weight is None else norm._replace(weight=weight)


def root_mean_square(root: Operand) -> Norm | None:
    """Of `mean(x ** 2) + eps`: what is known of the norm of x."""
    match plus_eps(root):
        case mean, eps:
            dims = reduced(mean.producer, "torch.mean")
            if mean.producer is None or dims is None:
                return None
            x = squared(mean.producer.inputs[0])
            return None if x is None else Norm(x, dims, eps)
    return None
