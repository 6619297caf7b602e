"""What a call claims, checked before anything relies on it: dims, ranks and words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

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

REPEATING = words("tile")
"""Their dims tell how often each is repeated."""

SPATIAL = re.compile(r"(?:pool|conv|transpose|pad|linear|cubic|nearest|exact)(\d)d")
"""Operators on images of so many dims, and channels, in a batch or not."""

CHOICES: Mapping[str, frozenset[str]] = {
    "UPLO": words("L U l u"),
    "approximate": words("none tanh"),
    "indexing": words("ij xy"),
    "interpolation": words("higher linear lower midpoint nearest"),
    "norm": words("backward forward ortho"),
    "ord": words("fro nuc"),
    "pad.mode": words("circular constant reflect replicate"),
    "pad_mode": words("circular constant reflect replicate"),
    "linalg_qr.mode": words("complete r reduced"),
    "padding": words("same valid"),
    "reduce": words("add amax amin max mean min multiply prod sum"),
    "rounding_mode": words("floor trunc"),
    "side": words("left right"),
}
"""The words that an argument may be, by its name, and its operator's where names have two uses."""


def check(op: OpSchema, call: Call) -> None:
    """Raise UnsupportedError for what no call of the operator has."""
    check_axes(op, call)
    check_ranks(op, call)
    check_words(op, call)


def check_axes(op: OpSchema, call: Call) -> None:
    """Raise UnsupportedError for a dim that no tensor of the call has.

    The largest rank counts: some calls broadcast first, and cat takes empty tensors of one dim.
    """
    named = [one.name for one in op.arguments if one.name in AXES and one.type.base == "int"]
    if not named or op.name in REPEATING:
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


def check_ranks(op: OpSchema, call: Call) -> None:
    """Raise UnsupportedError for an operator on images whose tensors have not the dims of some."""
    match = SPATIAL.search(op.name)
    if match is None:
        return
    given = call.rank(call.tensor(op.arguments[0].name))
    if given - int(match[1]) not in (1, 2):
        raise call.refuse(f"it reads a tensor of rank {given}")
    for output in call.outputs:
        if call.rank(output) != given:
            raise call.refuse(f"its result is of rank {call.rank(output)}, not {given}")


def check_words(op: OpSchema, call: Call) -> None:
    """Raise UnsupportedError for a word that is none of those an argument has."""
    for argument in op.arguments:
        value = call.args[argument.name]
        if argument.type.base == "str" and isinstance(value, str):
            name = argument.name
            choices = CHOICES.get(name) or CHOICES.get(f"{op.name}.{name}")
            if choices and value not in choices:
                raise call.refuse(f"its {name} is {value!r}, not {' or '.join(sorted(choices))}")


def tensors(values: tuple[Arg, ...]) -> Iterator[Operand]:
    for value in values:
        if isinstance(value, Operand):
            yield value
        elif isinstance(value, tuple):
            yield from tensors(value)
