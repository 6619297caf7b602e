"""Work out what depends on stored tensors alone, so that the model stores the result."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from converter.errors import UnsupportedError
from converter.ir import Array, Attribute, Graph, Operand, Operator
from converter.passes import evaluate_tables  # noqa: F401 (its operators are registered)
from converter.passes.base import Pass
from converter.passes.evaluate import CHECKED, EVALUATORS, EvaluationError, evaluate
from converter.passes.evaluated_shapes import check_shape
from converter.passes.terms import static_shape

LIMIT = 1 << 30
"""Bytes that a result may have; what is larger stays an operator."""

SMALL = 1 << 20
"""Bytes up to which results are worked out at once. Elements that are only moved, to where one
operator reads them, are moved when they are written: so memory holds one large weight at a time.
"""


HELD = 1 << 26
"""Bytes of results that are held in memory, all together."""


class FoldConstants(Pass):
    """Before: `pnnx.Attribute -> w`, `torch.t w -> y`. After: `pnnx.Attribute -> y`."""

    def run(self, graph: Graph) -> int:
        held = Held()
        return sum(fold(graph, op, held) for op in graph.of_type(*EVALUATORS))


class Held:
    """How many bytes of results are held so far."""

    def __init__(self) -> None:
        self._size = 0

    def take(self, size: int) -> bool:
        """Count that many more, if there is room for them."""
        if self._size + size > HELD:
            return False
        self._size += size
        return True


def fold(graph: Graph, op: Operator, held: Held) -> bool:
    operands = arguments(op)
    inputs = [operand.stored for operand in operands if operand.stored is not None]
    if not inputs or len(inputs) < len(operands):
        return False
    results = []
    for place, operand in enumerate(op.outputs):
        shape = static_shape(operand)
        if shape is None or operand.dtype is None:
            return False
        values = partial(later, op, inputs, place)
        results.append(Attribute.later(operand.dtype, shape, values, inputs, frozen=True))
    size = sum(result.nbytes for result in results)
    if size > LIMIT:
        return False
    check_shape(op, [one.shape for one in inputs])
    shared = any(len(operand.consumers) > 1 for operand in op.outputs)
    quick = all(result.is_quick for result in results)
    if size <= SMALL or shared or not quick or op.type in CHECKED:
        try:
            arrays = now(op, inputs)
        except EvaluationError:
            return False
        if held.take(size):
            results = [Attribute.of(alone(array), frozen=True) for array in arrays]
        elif not quick:
            return False
    replace(graph, op, results)
    return True


def alone(array: Array) -> Array:
    """The same values, without more of another array than they are."""
    return array if array.base is None else array.copy()


def arguments(op: Operator) -> list[Operand]:
    """The tensors that an operator reads: in the place of a list of indices, those in it."""
    if op.type != "Tensor.index" or not op.has_input("expr"):
        return op.inputs
    listed = op.input("expr").producer
    return [op.input("input"), *(listed.inputs if listed is not None else ())]


def now(op: Operator, inputs: list[Attribute]) -> Sequence[Array]:
    """The outputs of an operator; an input that it reads twice is read once. Raises
    EvaluationError.
    """
    arrays = {attribute: attribute.array() for attribute in inputs}
    return evaluate(op, [arrays[attribute] for attribute in inputs])


def later(op: Operator, inputs: list[Attribute], place: int) -> Array:
    try:
        return now(op, inputs)[place]
    except EvaluationError as error:
        raise UnsupportedError(f"cannot work out {op.type}: {error}", where=op.where) from None


def replace(graph: Graph, op: Operator, results: list[Attribute]) -> None:
    """Let the model store what the operator computes."""
    for place, (operand, result) in enumerate(zip(op.outputs, results, strict=True)):
        name = f"{op.name}_{place}" if place else op.name
        graph.add("pnnx.Attribute", name, (), [operand], attrs={"data": result}, before=op)
    graph.remove(op)
