"""Nodes that were worked out, or checked, when the shapes were given."""

from __future__ import annotations

from converter.archive.program import Node
from converter.archive.values import OperatorRef, SymRef
from converter.pnnx.names import words

CHECKS = words(
    """
    _assert_async _assert_scalar _assert_tensor_metadata _linalg_check_errors sym_constrain_range
    sym_constrain_range_for_size
    """
)
"""Operators without results that a program could do without."""


def is_settled(node: Node) -> bool:
    """Whether a node was worked out, or checked, when the shapes were given.

    It does arithmetic on symbols (None are results that nobody reads), or is one of CHECKS, plain
    or in the order of side effects.
    """
    if node.target == WITH_EFFECTS:
        return any(
            isinstance(value, OperatorRef) and is_check(value.target) for _, value in node.inputs
        )
    if node.outputs:
        return all(value is None or isinstance(value, SymRef) for value in node.outputs)
    return is_check(node.target)


WITH_EFFECTS = "torch.ops.higher_order.with_effects"
"""(token, operator, its arguments…): decomposed programs order what has side effects."""


def is_check(target: str) -> bool:
    return target.startswith("torch.ops.aten.") and target.split(".")[3] in CHECKS
