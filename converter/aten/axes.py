"""Whether the dims that a call names are dims of its tensors: whoever reads them relies on it."""

from __future__ import annotations

from collections.abc import Iterator

from converter.aten.call import Arg, Call
from converter.aten.schema_table import OpSchema
from converter.ir import Operand
from converter.pnnx.names import words

AXES = words(
    "axis axis0 axis1 destination dim dim0 dim1 dim2 dimension dimensions dims end_dim source "
    "start_dim"
)
"""What arguments are called that name dims."""

INSERTING = words("diag_embed stack unsqueeze")
"""Their dims are those of a result that has one more."""


def check_axes(op: OpSchema, call: Call) -> None:
    """Raise UnsupportedError for a dim that no tensor of the call has.

    The largest rank counts: some calls broadcast first, and cat takes empty tensors of one dim.
    """
    named = [one.name for one in op.arguments if one.name in AXES and one.type.base == "int"]
    if not named:
        return
    ranks = [len(one.shape) for one in tensors(tuple(call.args.values())) if one.shape is not None]
    if not ranks:
        return
    rank = max(ranks) + (op.name in INSERTING)
    for name in named:
        value = call.args[name]
        for dim in value if isinstance(value, tuple) else (value,):
            if isinstance(dim, int) and not -max(rank, 1) <= dim < max(rank, 1):
                raise call.refuse(f"its {name} is {dim}, of a tensor of rank {rank}")


def tensors(values: tuple[Arg, ...]) -> Iterator[Operand]:
    for value in values:
        if isinstance(value, Operand):
            yield value
        elif isinstance(value, tuple):
            yield from tensors(value)
