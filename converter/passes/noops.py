"""Remove operators that return what they were given."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from converter.ir import Graph, Operand, Operator
from converter.passes.base import Pass
from converter.passes.formula import Function, Place, Tree, parse

Check = Callable[[Operator], bool]


def permutes_nothing(op: Operator) -> bool:
    dims, shape = op.params["dims"], op.inputs[0].shape
    if not isinstance(dims, tuple) or shape is None:
        return False
    return [dim % len(shape) for dim in dims if isinstance(dim, int)] == list(range(len(shape)))


def keeps_shape(op: Operator) -> bool:
    return is_told(op.inputs[0]) and op.outputs[0].shape == op.inputs[0].shape


def joins_one(op: Operator) -> bool:
    return len(op.inputs) == 1


def transposes_nothing(op: Operator) -> bool:
    """`ijk`, each label once and in order: the result is what einsum makes of that by itself."""
    equation = op.params["equation"]
    assert isinstance(equation, str)
    return equation.isalpha() and list(equation) == sorted(set(equation))


def pads_nothing(op: Operator) -> bool:
    pad = op.params.get("pad")
    return isinstance(pad, tuple) and not any(pad)


def resizes_nothing(op: Operator) -> bool:
    """Every mode of interpolation returns the elements themselves where positions map to them.

    A factor other than 1 may give the same size of other positions. Filters against aliasing are
    left alone.
    """
    factor = op.params.get("scale_factor")
    factors = factor if isinstance(factor, tuple) else (factor,)
    return (
        keeps_shape(op)
        and all(one in (None, 1) for one in factors)
        and not op.params.get("antialias")
    )


NOOPS: dict[str, Check] = {
    "F.interpolate": resizes_nothing,
    "F.pad": pads_nothing,
    "F.upsample": resizes_nothing,
    "F.upsample_bilinear": resizes_nothing,
    "F.upsample_nearest": resizes_nothing,
    "Tensor.permute": permutes_nothing,
    "Tensor.reshape": keeps_shape,
    "Tensor.slice": keeps_shape,
    "nn.Upsample": resizes_nothing,
    "nn.UpsamplingBilinear2d": resizes_nothing,
    "nn.UpsamplingNearest2d": resizes_nothing,
    "torch.cat": joins_one,
    "torch.einsum": transposes_nothing,
}
"""By type: whether an operator changes nothing."""


class EliminateNoops(Pass):
    """Before: `Tensor.reshape x -> y`, to the shape that x has. After: readers of y read x."""

    def run(self, graph: Graph) -> int:
        gone = [op for op in graph.of_type(*NOOPS) if NOOPS[op.type](op)]
        return bypass(graph, [(op, op.inputs[0]) for op in gone])


def bypass(graph: Graph, gone: list[tuple[Operator, Operand]]) -> int:
    """Remove operators, in topological order, whose only result is that operand."""
    now: dict[Operand, Operand] = {}
    for op, source in gone:
        now[op.outputs[0]] = now.get(source, source)
        graph.replace_uses(op.outputs[0], now[op.outputs[0]])
    graph.remove_all(op for op, _ in gone)
    return len(gone)


def is_told(operand: Operand) -> bool:
    """Whether each dim is a size, or an expression that is the same wherever the size is."""
    return operand.shape is not None and "?" not in operand.shape


NEUTRAL: dict[str, tuple[int, frozenset[int]]] = {
    "sub": (0, frozenset({1})),
    "mul": (1, frozenset({0, 1})),
    "div": (1, frozenset({1})),
    "pow": (1, frozenset({1})),
}
"""By function: its neutral element and which of the two arguments it may be."""

ADDITION = {"add": (0, frozenset({0, 1}))}
EXPRESSION = "pnnx.Expression"


class EliminateNoopMath(Pass):
    """Before: `pnnx.Expression x -> y expr=mul(@0,1)`. After: readers of y read x.

    The neutral element is a number, or a stored tensor that is full of it.
    """

    neutral: ClassVar[dict[str, tuple[int, frozenset[int]]]] = NEUTRAL

    def run(self, graph: Graph) -> int:
        found = [(op, self.source(op)) for op in graph.of_type(EXPRESSION)]
        return bypass(graph, [(op, source) for op, source in found if source is not None])

    def source(self, op: Operator) -> Operand | None:
        """The operand that an expression returns unchanged, if it does."""
        formula = parse(op)
        if not isinstance(formula, Function) or formula.name not in self.neutral:
            return None
        element, places = self.neutral[formula.name]
        for place in sorted(places):
            other = formula.arguments[1 - place]
            if isinstance(other, Place) and is_full(op, formula.arguments[place], element):
                return same_type(op.inputs[other.number], op.outputs[0])
        return None


class EliminateAddedZeros(EliminateNoopMath):
    """Before: `pnnx.Expression x -> y expr=add(@0,0)`. After: readers of y read x.

    x + 0 differs from x in one value: the sign of zero.
    """

    changes_arithmetic: ClassVar[bool] = True
    neutral = ADDITION


def same_type(source: Operand, result: Operand) -> Operand | None:
    same = (source.shape, source.dtype) == (result.shape, result.dtype)
    return source if same and is_told(source) else None


def is_full(op: Operator, argument: Tree, element: int) -> bool:
    """Whether it is that number, or a stored tensor of nothing else."""
    if not isinstance(argument, Place):
        return argument == element
    stored = op.inputs[argument.number].stored
    return stored is not None and stored.is_full(element)
