"""Leave out expansions that the element-wise operator after them does by itself."""

from __future__ import annotations

import numpy as np

from converter.ir import Graph, Operand, Operator
from converter.passes.base import Pass
from converter.passes.terms import static_shape

EXPANDS = ("Tensor.expand", "Tensor.expand_as")


class EliminateExpands(Pass):
    """Before: `Tensor.expand x -> a sizes=(2,3,4)`, `pnnx.Expression a y -> z expr=add(@0,@1)`.

    After: `pnnx.Expression x y -> z`, where x has as many dims, nothing else reads a, and the
    shapes of x and y alone give that of z.
    """

    def run(self, graph: Graph) -> int:
        return sum(eliminate(graph, op) for op in graph.of_type(*EXPANDS))


def eliminate(graph: Graph, expand: Operator) -> bool:
    source, result = expand.inputs[0], expand.outputs[0]
    readers = set(result.consumers)
    if len(readers) != 1 or not source.shape or len(source.shape) != len(result.shape or ()):
        return False
    (reader,) = readers
    inputs = [source if operand is result else operand for operand in reader.inputs]
    if reader.type != "pnnx.Expression" or "size(" in str(reader.params["expr"]):
        return False
    if not spread_to(inputs, reader.outputs[0]):
        return False
    graph.set_inputs(reader, inputs)
    graph.remove(expand)
    return True


def spread_to(inputs: list[Operand], result: Operand) -> bool:
    """Whether element-wise functions of these tensors have that shape."""
    shapes = [static_shape(operand) for operand in inputs]
    known = [shape for shape in shapes if shape is not None]
    return len(known) == len(shapes) and np.broadcast_shapes(*known) == result.shape
