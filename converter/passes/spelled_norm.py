"""What norms consist of that a model spells out, one expression for each function."""

from __future__ import annotations

from typing import NamedTuple

from converter.ir import Attribute, Operand, Operator, Param
from converter.passes.formula import Function, Place, parse

EXPRESSION = "pnnx.Expression"
LONGEST = 16
"""Factors and products of them that are looked at: a norm has four or five."""


class Norm(NamedTuple):
    """What is normalized over which dims, and the weight and bias in the shape of those."""

    x: Operand
    dims: tuple[int, ...]
    eps: float
    weight: Attribute | None = None
    bias: Attribute | None = None


class Factors(NamedTuple):
    """A product: what is multiplied, what else is divided by, and the square roots among that."""

    above: list[Operand | Param]
    below: list[Operand | Param]
    roots: list[Operand]

    @classmethod
    def of(cls, product: Operand, whole: Operand | None = None) -> Factors:
        """The factors of a product; `whole` is one of them, though it may be a product too.

        None at all where there are more than norms have: a factor may be the product of another
        with itself, and so on, so that there is no end to them.
        """
        factors = cls([], [], [])
        todo: list[tuple[Operand | Param, bool]] = [(product, True)]
        for _ in range(LONGEST):
            if not todo:
                return factors
            value, above = todo.pop()
            match None if value is whole else called(value), above:
                case ("mul", (one, other)), _:
                    todo += (other, above), (one, above)
                case ("div", (one, other)), True:
                    todo += (other, False), (one, True)
                case ("reciprocal", (one,)), True:
                    todo.append((one, False))
                case (("rsqrt", (Operand() as root,)), True) | (
                    ("sqrt", (Operand() as root,)),
                    False,
                ):
                    factors.roots.append(root)
                case (("pow", (Operand() as root, -0.5)), True) | (
                    ("pow", (Operand() as root, 0.5)),
                    False,
                ):
                    factors.roots.append(root)
                case _ if isinstance(value, Operand) or value != 1:
                    (factors.above if above else factors.below).append(value)
        return cls([], [], [])


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


def plus_eps(value: Operand) -> tuple[Operand, float] | None:
    """Of `variance + eps`: both."""
    match called(value):
        case ("add", (Operand() as variance, float() as eps)) | (
            "add",
            (float() as eps, Operand() as variance),
        ):
            return variance, eps
    return None


def squared(value: Operand) -> Operand | None:
    """Of `value ** 2`: the value."""
    match called(value):
        case ("square", (Operand() as one,)) | ("pow", (Operand() as one, 2 | 2.0)):
            return one
        case "mul", (Operand() as one, other) if one is other:
            return one
    return None


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


def is_sized(output: Operand) -> bool:
    """Whether it has dims, elements as far as is known, and a dtype that norms are as exact in."""
    return bool(output.shape) and 0 not in (output.shape or ()) and output.dtype in ("f32", "f64")


def sizes(norm: Norm) -> tuple[int, ...] | None:
    """The sizes of the dims that are normalized, None where one is not known."""
    shape = norm.x.shape or ()
    found = tuple(shape[dim] for dim in norm.dims)
    known = tuple(size for size in found if isinstance(size, int))
    return known if len(known) == len(found) else None


def is_last(norm: Norm) -> bool:
    """Whether the dims are the last ones."""
    rank = len(norm.x.shape or ())
    return norm.dims == tuple(range(rank - len(norm.dims), rank))
