"""Recognize nn.LayerNorm where a model spells it out, in whatever order it multiplies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from converter.ir import Graph, Operand, Operator, Param
from converter.passes.base import Pass
from converter.passes.spelled_norm import (
    EXPRESSION,
    Factors,
    Norm,
    called,
    fitted,
    is_last,
    is_sized,
    plus_eps,
    reduced,
    sizes,
)


class LayerNorm(Pass):
    """Before: `(x - mean(x)) / sqrt(mean((x - mean(x)) ** 2) + eps) * weight + bias` over the last
    dims, one expression for each function. After: `nn.LayerNorm x`.

    Over the channels of images, which are dim 1, a permutation is put before it and after it. The
    weight and the bias are stored, or there is neither. (Ba et al., "Layer Normalization", 2016.)
    """

    changes_arithmetic: ClassVar[bool] = True

    def run(self, graph: Graph) -> int:
        if not graph.of_type("torch.mean"):
            return 0
        return sum(fuse(graph, op) for op in reversed(graph.of_type(EXPRESSION)))


def fuse(graph: Graph, op: Operator) -> bool:
    output = op.outputs[0]
    if not output.consumers or not is_sized(output):
        return False
    norm = affine(output) or plain(output)
    if norm is None or (norm.x.shape, norm.x.dtype) != (output.shape, output.dtype):
        return False
    if sizes(norm) is None:
        return False
    if is_last(norm):
        write(graph, op, norm.x, norm)
    elif norm.dims == (1,) and norm.weight is not None:
        write_channels(graph, op, norm)
    else:
        return False
    return True


# --- finding


def affine(output: Operand) -> Norm | None:
    """A norm times a stored weight, plus a stored bias."""
    match called(output):
        case "add", (Operand() as one, Operand() as other):
            for product, added in ((one, other), (other, one)):
                norm = scaled(product)
                bias = None if norm is None else fitted(added, norm)
                if norm is not None and bias is not None:
                    return norm._replace(bias=bias)
    return None


def scaled(product: Operand) -> Norm | None:
    """A norm times a stored weight."""
    factors = Factors.of(product)
    for place, weight in enumerate(factors.above):
        others = factors.above[:place] + factors.above[place + 1 :]
        norm = centred_over_root(others, factors) if isinstance(weight, Operand) else None
        stored = None if norm is None else fitted(weight, norm)
        if norm is not None and stored is not None:
            return norm._replace(weight=stored)
    return None


def plain(output: Operand) -> Norm | None:
    factors = Factors.of(output)
    return centred_over_root(factors.above, factors)


def centred_over_root(above: Sequence[Operand | Param], factors: Factors) -> Norm | None:
    """`(x - mean) / sqrt(variance + eps)`, if that is all there is."""
    if len(above) != 1 or factors.below or len(factors.roots) != 1:
        return None
    found = centred(above[0])
    if found is None:
        return None
    match plus_eps(factors.roots[0]):
        case variance, eps if is_variance(variance, found):
            return Norm(*found, eps)
    return None


def centred(value: Operand | Param) -> tuple[Operand, tuple[int, ...]] | None:
    """Of `x - mean(x)`: x and the dims of the mean."""
    match called(value):
        case "sub", (Operand() as x, Operand() as mean):
            dims = reduced(mean.producer, "torch.mean")
            if mean.producer is not None and dims is not None and mean.producer.inputs[0] is x:
                return x, dims
    return None


def is_variance(variance: Operand, of: tuple[Operand, tuple[int, ...]]) -> bool:
    """Whether it is the mean of `(x - mean(x)) ** 2`, or torch.var without Bessel's correction."""
    x, dims = of
    op = variance.producer
    if op is None:
        return False
    if op.type == "torch.var":
        biased = op.params.get("unbiased") is False
        return biased and op.inputs[0] is x and reduced(op, "torch.var") == dims
    if reduced(op, "torch.mean") != dims:
        return False
    match called(op.inputs[0]):
        case ("square", (one,)) | ("pow", (one, 2 | 2.0)):
            return centred(one) == of
        case "mul", (one, other):
            return centred(one) == of and centred(other) == of
    return False


# --- writing


def write(graph: Graph, op: Operator, x: Operand, norm: Norm) -> None:
    """Let an operator normalize the last dims of x."""
    before = op.inputs
    op.type = "nn.LayerNorm"
    op.params = {
        "elementwise_affine": norm.weight is not None,
        "eps": norm.eps,
        "normalized_shape": sizes(norm),
    }
    if norm.weight is not None and norm.bias is not None:
        op.attrs = {"weight": norm.weight, "bias": norm.bias}
    graph.set_inputs(op, [x], ["input"])
    for operand in before:
        prune(graph, operand)


def write_channels(graph: Graph, op: Operator, norm: Norm) -> None:
    """Let an operator put back the channels of x, which are normalized as the last dim."""
    shape, dtype = norm.x.shape or (), norm.x.dtype
    rank = len(shape)
    order, back = (0, *range(2, rank), 1), (0, rank - 1, *range(1, rank - 1))
    moved = tuple(shape[dim] for dim in order)
    last = graph.fresh(f"{op.name}_last", moved, dtype)
    normed = graph.fresh(f"{op.name}_normed", moved, dtype)
    graph.add(
        "Tensor.permute",
        last.name,
        [norm.x],
        [last],
        input_names=["input"],
        params={"dims": order},
        before=op,
    )
    inner = graph.add("nn.LayerNorm", normed.name, [last], [normed], before=op)
    write(graph, inner, last, norm)
    before = op.inputs
    op.type, op.params = "Tensor.permute", {"dims": back}
    graph.set_inputs(op, [normed], ["input"])
    for operand in before:
        prune(graph, operand)


def prune(graph: Graph, operand: Operand) -> None:
    """Remove what made an operand that nobody reads any more, so that it is not looked at again."""
    todo = [operand]
    while todo:
        op = todo.pop().producer
        if op is not None and op.type != "pnnx.Input" and not any(o.consumers for o in op.outputs):
            graph.remove(op)
            todo += op.inputs
