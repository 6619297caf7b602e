"""Which integer inputs of a network are numbers to compute with.

ncnn computes in floats; only `Embed` reads integers. So an input of integers is given to ncnn as
floats if it is converted to floats later, as PyTorch would convert it, and else as 32-bit integers.
"""

from __future__ import annotations

from converter.ir import Graph, Operand
from converter.ncnn.graph import INTEGERS
from converter.ncnn.registry import RULES


def numbers(graph: Graph) -> set[Operand]:
    """The integer inputs that are converted, perhaps after they were moved."""
    found: set[Operand] = set()
    for op in graph.of_type("pnnx.Input"):
        if op.outputs[0].dtype in INTEGERS and _converted(op.outputs[0]):
            found.add(op.outputs[0])
    return found


def _converted(operand: Operand) -> bool:
    seen, queue = {operand}, [operand]
    while queue:
        for reader in queue.pop().consumers:
            if reader.type in ("Tensor.to", "Tensor.type_as"):
                return True
            rule = RULES.get(reader.type)
            if rule is not None and rule.dtypes == "moved":
                fresh = set(reader.outputs) - seen
                seen |= fresh
                queue.extend(fresh)
    return False
