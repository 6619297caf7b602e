"""Find an operator between two changes of shape, as decompositions put it there."""

from __future__ import annotations

from converter.ir import Graph, Operand, Operator


def changed_before(op: Operator, type: str, dim: int) -> Operator | None:
    """The operator of that type and dim (from the end) that makes the first input of another."""
    before = op.inputs[0].producer
    return before if before is not None and is_change(before, type, dim) else None


def changed_after(operand: Operand, type: str, dim: int) -> Operator | None:
    """The operator of that type and dim that alone reads an operand."""
    after = operand.consumers[0] if len(operand.consumers) == 1 else None
    return after if after is not None and is_change(after, type, dim) else None


def is_change(op: Operator, type: str, dim: int) -> bool:
    if op.type != type:
        return False
    given, shape = op.params.get("dim"), op.inputs[0].shape
    dims = given if isinstance(given, tuple) else (given,)
    if shape is None or len(dims) != 1 or not isinstance(dims[0], int):
        return False
    rank = len(shape) + (type == "torch.unsqueeze")
    return dims[0] % rank == dim % rank


def take_out(graph: Graph, op: Operator, before: Operator, afters: list[Operator]) -> None:
    """Let an operator read what was changed for it, and give what its results are changed to."""
    graph.set_inputs(op, [before.inputs[0], *op.inputs[1:]], op.input_names)
    for operand, after in zip(op.outputs, afters, strict=True):
        operand.shape = after.outputs[0].shape
        graph.replace_uses(after.outputs[0], operand)
        graph.remove(after)
    if not before.outputs[0].consumers:
        graph.remove(before)
