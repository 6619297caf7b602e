"""Recognize nn.LayerNorm where a model spells it out, in whatever order it multiplies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from converter.ir import Attribute, Graph, Operand, Operator, Param
from converter.passes.base import Pass
from converter.passes.formula import Function, Place, parse

EXPRESSION = "pnnx.Expression"


class Norm(NamedTuple):
    """What is normalized over which dims, and the weight and bias in the shape of those."""

    x: Operand
    dims: tuple[int, ...]
    eps: float
    weight: Attribute | None = None
    bias: Attribute | None = None


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
    shape = output.shape
    if not shape or 0 in shape or output.dtype not in ("f32", "f64") or not output.consumers:
        return False
    norm = affine(output) or plain(output)
    if norm is None or (norm.x.shape, norm.x.dtype) != (shape, output.dtype):
        return False
    if not all(isinstance(shape[dim], int) for dim in norm.dims):
        return False
    if norm.dims == last_dims(norm, len(shape)):
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
    for weight in factors.above:
        others = [one for one in factors.above if one is not weight]
        norm = centred_over_root(others, factors) if isinstance(weight, Operand) else None
        stored = None if norm is None else fitted(weight, norm)
        if norm is not None and stored is not None:
            return norm._replace(weight=stored)
    return None


def plain(output: Operand) -> Norm | None:
    factors = Factors.of(output)
    return centred_over_root(factors.above, factors)


class Factors(NamedTuple):
    """A product: what is multiplied, what else is divided by, and the square roots among that."""

    above: list[Operand | Param]
    below: list[Operand | Param]
    roots: list[Operand]

    @classmethod
    def of(cls, product: Operand) -> Factors:
        factors = cls([], [], [])
        factors.add(product, above=True)
        return factors

    def add(self, value: Operand | Param, *, above: bool) -> None:
        match called(value), above:
            case ("mul", (one, other)), _:
                self.add(one, above=above)
                self.add(other, above=above)
            case ("div", (one, other)), True:
                self.add(one, above=True)
                self.add(other, above=False)
            case (("rsqrt", (Operand() as root,)), True) | (("sqrt", (Operand() as root,)), False):
                self.roots.append(root)
            case (("pow", (Operand() as root, -0.5)), True) | (
                ("pow", (Operand() as root, 0.5)),
                False,
            ):
                self.roots.append(root)
            case _:
                (self.above if above else self.below).append(value)


def centred_over_root(above: Sequence[Operand | Param], factors: Factors) -> Norm | None:
    """`(x - mean) / sqrt(variance + eps)`, if that is all there is."""
    if len(above) != 1 or factors.below or len(factors.roots) != 1:
        return None
    found = centred(above[0])
    if found is None:
        return None
    match called(factors.roots[0]):
        case ("add", (Operand() as variance, float() as eps)) | (
            "add",
            (float() as eps, Operand() as variance),
        ) if is_variance(variance, found):
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


def called(value: Operand | Param) -> tuple[str, tuple[Operand | Param, ...]] | None:
    """The one function that makes a tensor, and its arguments."""
    op = value.producer if isinstance(value, Operand) else None
    if op is None or op.type != EXPRESSION:
        return None
    formula = parse(op)
    if not isinstance(formula, Function):
        return None
    arguments: list[Operand | Param] = []
    for argument in formula.arguments:
        if isinstance(argument, Function):
            return None
        arguments.append(op.inputs[argument.number] if isinstance(argument, Place) else argument)
    return formula.name, tuple(arguments)


def reduced(op: Operator | None, type: str) -> tuple[int, ...] | None:
    """The dims, from the front and in order, that an operator of that type reduces and keeps."""
    if op is None or op.type != type or op.params.get("keepdim") is not True:
        return None
    dims, shape = op.params.get("dim"), op.inputs[0].shape
    if not isinstance(dims, tuple) or not shape:
        return None
    return tuple(sorted(dim % len(shape) for dim in dims if isinstance(dim, int)))


def fitted(operand: Operand | Param, norm: Norm) -> Attribute | None:
    """A stored tensor of one element for each of those that are normalized, in their shape."""
    stored = operand.stored if isinstance(operand, Operand) else None
    shape = norm.x.shape or ()
    if stored is None or stored.dtype != norm.x.dtype or len(stored.shape) > len(shape):
        return None
    held = (1,) * (len(shape) - len(stored.shape)) + stored.shape
    if held != tuple(size if dim in norm.dims else 1 for dim, size in enumerate(shape)):
        return None
    return Attribute(stored.dtype, tuple(held[dim] for dim in norm.dims), stored.data)


def last_dims(norm: Norm, rank: int) -> tuple[int, ...]:
    return tuple(range(rank - len(norm.dims), rank))


# --- writing


def write(graph: Graph, op: Operator, x: Operand, norm: Norm) -> None:
    """Let an operator normalize the last dims of x."""
    shape = norm.x.shape or ()
    before = op.inputs
    op.type = "nn.LayerNorm"
    op.params = {
        "elementwise_affine": norm.weight is not None,
        "eps": norm.eps,
        "normalized_shape": tuple(shape[dim] for dim in norm.dims),
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
    op = operand.producer
    if op is None or op.type == "pnnx.Input" or any(one.consumers for one in op.outputs):
        return
    inputs = op.inputs
    graph.remove(op)
    for one in inputs:
        prune(graph, one)
