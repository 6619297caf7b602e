"""The operators between operands, in the place of which a pass puts a single one."""

from __future__ import annotations

from converter.ir import Operand, Operator


def region(outputs: list[Operand], inputs: set[Operand]) -> set[Operator] | None:
    """The operators between inputs and outputs; None where others read what is in between."""
    inside: set[Operator] = set()
    todo = [operand.producer for operand in outputs]
    while todo:
        op = todo.pop()
        if op is None or op in inside or op.type == "pnnx.Attribute":
            continue
        inside.add(op)
        todo += [operand.producer for operand in op.inputs if operand not in inputs]
    between = {operand for op in inside for operand in op.outputs} - set(outputs)
    return inside if all(inside.issuperset(operand.consumers) for operand in between) else None
