"""Take a tensor apart once where every index of a dim is selected."""

from __future__ import annotations

from collections import defaultdict

from converter.ir import Graph, Operand, Operator
from converter.passes.base import Pass


class SelectsToUnbind(Pass):
    """Before: `Tensor.select x -> a dim=0 index=0`, `Tensor.select x -> b dim=0 index=1`.

    After: `torch.unbind x -> a b dim=0`, where x has two elements in that dim.
    """

    def run(self, graph: Graph) -> int:
        groups: dict[tuple[Operand, int], dict[int, Operator]] = defaultdict(dict)
        for op in graph.of_type("Tensor.select"):
            place = selected(op)
            if place is not None:
                dim, index = place
                groups[op.inputs[0], dim].setdefault(index, op)
        return sum(unbind(graph, source, dim, ops) for (source, dim), ops in groups.items())


def selected(op: Operator) -> tuple[int, int] | None:
    """The dim and the index of a select, both counted from the front."""
    shape, dim, index = op.inputs[0].shape, op.params["dim"], op.params.get("index")
    if shape is None or not isinstance(dim, int) or not isinstance(index, int):
        return None
    size = shape[dim]
    return (dim % len(shape), index % size) if isinstance(size, int) else None


def unbind(graph: Graph, source: Operand, dim: int, ops: dict[int, Operator]) -> bool:
    """Replace the selects, by index, if there is one of every index."""
    assert source.shape is not None
    if len(ops) != source.shape[dim]:
        return False
    first = next(iter(ops.values()))
    outputs = [ops[index].outputs[0] for index in range(len(ops))]
    graph.add("torch.unbind", first.name, [source], outputs, params={"dim": dim}, before=first)
    graph.remove_all(ops.values())
    return True
