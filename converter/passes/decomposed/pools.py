"""Pools over one dim, which decompositions make of pools over two."""

from __future__ import annotations

from converter.ir import Graph, Operator, Param
from converter.passes.base import Pass
from converter.passes.decomposed.wrapped import changed_after, changed_before, take_out

POOLS = ("F.adaptive_avg_pool2d", "F.adaptive_max_pool2d", "F.avg_pool2d", "F.max_pool2d")
UNCHANGED = ("ceil_mode", "count_include_pad", "return_indices")
"""Params that do not speak of dims."""


class PoolsOfOneDim(Pass):
    """Before: `torch.unsqueeze x -> a dim=-2`, `F.max_pool2d a -> b kernel_size=(1,3)`,
    `torch.squeeze b -> y dim=-2`. After: `F.max_pool1d x -> y kernel_size=(3,)`.
    """

    def run(self, graph: Graph) -> int:
        return sum(unwrap(graph, op) for op in graph.of_type(*POOLS))


def unwrap(graph: Graph, op: Operator) -> bool:
    function = op.type.removesuffix("2d") + "1d"
    if op.origin is None or not op.origin.startswith(function.removeprefix("F.")):
        return False
    before = changed_before(op, "torch.unsqueeze", -2)
    found = [changed_after(operand, "torch.squeeze", -2) for operand in op.outputs]
    afters = [after for after in found if after is not None]
    params = of_one_dim(op)
    if before is None or len(afters) < len(found) or params is None:
        return False
    op.type, op.params = function, params
    take_out(graph, op, before, afters)
    return True


def of_one_dim(op: Operator) -> dict[str, Param] | None:
    """The params of the last dim, None where something is done to the dim before it."""
    params: dict[str, Param] = {}
    for name, value in op.params.items():
        if name in UNCHANGED:
            params[name] = value
        elif isinstance(value, tuple) and len(value) == 2:
            if value[0] != (name != "padding"):
                return None
            params[name] = value[1:]
        elif value is not None:
            return None
        elif name != "divisor_override":
            params[name] = None
    return params
