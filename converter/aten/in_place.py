"""Calls that write to their arguments, and their functional twins.

`x.add_(y)` and `torch.add(x, y, out=x)` are `x = x + y`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from msgspec.structs import replace

from converter.archive.values import Value
from converter.aten.schema_table import MISSING, Argument, OpSchema, overloads, schema

TWINS: Mapping[str, str] = {
    "float_power_.Scalar": "float_power.Tensor_Scalar",
    "float_power_.Tensor": "float_power.Tensor_Tensor",
    "floor_divide_.Tensor": "floor_divide.default",
    "ldexp_.default": "ldexp.Tensor",
    "pow_.Scalar": "pow.Tensor_Scalar",
    "pow_.Tensor": "pow.Tensor_Tensor",
    "transpose_.default": "transpose.int",
}
"""In-place operators whose twin is another overload."""

WITHOUT_TWIN = frozenset({"fill_diagonal_"})
"""In-place operators that ATen has no twin of: it is as if there were one."""

MAKING = frozenset({"dtype", "layout", "device", "pin_memory"})
"""What an operator that makes a tensor is told, and what `out` tells in its place."""


class Twin(NamedTuple):
    """A functional operator, and the arguments that its results are written to, in their order.

    None are of a call that is functional itself, and of one that has no twin. `has_out`: they are
    no arguments of the twin's.
    """

    op: OpSchema
    written: tuple[str, ...] = ()
    has_out: bool = False

    @property
    def target(self) -> str:
        return f"{self.op.namespace}.{self.op.name}.{self.op.overload}"

    @property
    def is_view(self) -> bool:
        """Whether the call writes no values: by `x.unsqueeze_(0)`, x becomes a view of itself."""
        aliases = any(argument.type.alias for argument in self.op.arguments)
        return bool(self.written) and not self.has_out and aliases

    def arguments(self, bound: Mapping[str, Value]) -> dict[str, Value]:
        """What it takes of a call: by name, or in their order where the names are not the same."""
        given = dict(bound)
        if not self.written:
            return given
        if self.has_out:
            given = {name: value for name, value in bound.items() if name not in self.written}
        own = self.op.arguments
        if not given.keys() <= {argument.name for argument in own}:
            return dict(zip((argument.name for argument in own), given.values(), strict=True))
        defaults = {one.name: one.default for one in own if one.default is not MISSING}
        known = {**defaults, **given}
        return {argument.name: known[argument.name] for argument in own}


def functional(op: OpSchema) -> Twin:
    """`aten.relu.default` of itself, of `aten.relu_.default` and of `aten.relu.out`.

    What writes to lists of tensors, or both in place and to `out`, has no twin.
    """
    mutated = [argument for argument in op.arguments if argument.type.mutated]
    if not mutated:
        return Twin(op)
    has_out = all(argument.kwarg_only for argument in mutated)
    twin = None
    if not any(argument.type.is_list for argument in mutated):
        if has_out:
            twin = returning(op, len(mutated))
        elif mutated == [op.arguments[0]]:
            twin = renamed(op)
    if twin is None:
        return Twin(op)
    return Twin(twin, tuple(argument.name for argument in mutated), has_out)


def renamed(op: OpSchema) -> OpSchema | None:
    """`aten.relu.default` of `aten.relu_.default`."""
    if op.name.startswith("__i"):
        name, overload = f"__{op.name[3:]}", op.overload
    elif op.name.endswith("_"):
        twin = TWINS.get(f"{op.name}.{op.overload}", f"{op.name[:-1]}.{op.overload}")
        name, overload = twin.split(".")
    else:
        return None
    found = schema(f"torch.ops.{op.namespace}.{name}.{overload}")
    if found is not None and len(found.arguments) == len(op.arguments):
        return found
    if op.name not in WITHOUT_TWIN:
        return None
    written = op.arguments[0]
    read = replace(written, type=replace(written.type, alias="", mutated=False))
    return replace(op, name=name, overload=overload, arguments=(read, *op.arguments[1:]))


def returning(op: OpSchema, results: int) -> OpSchema | None:
    """`aten.add.Tensor` of `aten.add.out`: the overload that takes the same arguments but `out`."""

    def taken(arguments: tuple[Argument, ...]) -> list[tuple[str, str, bool, bool]]:
        return [
            (one.name, one.type.base, one.type.is_list, one.type.optional)
            for one in arguments
            if not one.type.mutated and one.name not in MAKING
        ]

    for other in overloads(op.namespace, op.name):
        if other.mutates or len(other.returns) != results:
            continue
        if taken(other.arguments) == taken(op.arguments):
            return other
    return None
