"""What a call claims, checked before anything relies on it: dims, ranks and words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from math import prod

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

KEEPING = words("clone contiguous flip movedim permute roll transpose")
"""They move elements within as many dims."""

MOVING = KEEPING | words("_unsafe_view flatten reshape squeeze t unflatten unsqueeze view")
"""Their results have all elements, once."""

CONVOLUTION = re.compile(r"conv(_transpose)?(\d)d")

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
    check_weights(op, call)
    check_result(op, call)
    if op.name == "permute" and len(set(call.integers("dims"))) != call.rank(call.tensor("self")):
        raise call.refuse(f"its dims are {call.args['dims']}, no order of those of its tensor")


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


def check_weights(op: OpSchema, call: Call) -> None:
    """Raise UnsupportedError for weights that do not fit each other, or what they are applied to:
    passes work with them before anything else does.
    """
    if match := CONVOLUTION.fullmatch(op.name):
        shape = static_shape(call.tensor("weight"))
        if shape is None:
            return
        groups = call.integer("groups")
        if len(shape) != int(match[2]) + 2 or groups < 1 or shape[0] % groups:
            raise call.refuse(f"its weight is of {shape}, in {groups} groups")
        given, made = (shape[0], shape[1] * groups) if match[1] else (shape[1] * groups, shape[0])
        expect(call, "bias", made)
        for operand, channels in ((call.tensor("input"), given), (call.output, made)):
            size = (operand.shape or ())[-len(shape) + 1]
            if isinstance(size, int) and size != channels:
                raise call.refuse(f"its weight is of {shape}, for {channels} channels, not {size}")
    elif "batch_norm" in op.name and "input" in call.args:
        image = call.tensor("input").shape or ()
        if len(image) < 2:
            raise call.refuse(f"it reads a tensor of rank {len(image)}")
        for name in ("weight", "bias", "running_mean", "running_var"):
            if name in call.args and isinstance(image[1], int):
                expect(call, name, image[1])
    elif op.name == "_weight_norm":
        v, g = static_shape(call.tensor("v")), static_shape(call.tensor("g"))
        if v is None or g is None:
            return
        dim = call.integer("dim")
        kept = tuple(size if at == dim % len(v) else 1 for at, size in enumerate(v))
        if not v or not (prod(g) == 1 if dim == -1 else g == kept):
            raise call.refuse(f"its g is of {g}, and its v of {v}")


def static_shape(operand: Operand) -> tuple[int, ...] | None:
    sizes = tuple(size for size in operand.shape or () if isinstance(size, int))
    return sizes if operand.shape is not None and len(sizes) == len(operand.shape) else None


def check_result(op: OpSchema, call: Call) -> None:
    """Raise UnsupportedError for a result of another size or rank than what it is moved from."""
    given = call.args[op.arguments[0].name] if op.arguments else None
    if op.name not in MOVING or op.overload == "dtype" or not isinstance(given, Operand):
        return
    if op.name in KEEPING and call.rank(call.output) != call.rank(given):
        raise call.refuse(f"its result is of rank {call.rank(call.output)}, not {call.rank(given)}")
    before, after = static_shape(given), static_shape(call.output)
    if before is not None and after is not None and prod(before) != prod(after):
        raise call.refuse(f"its result is of {after}, which does not hold what {before} does")


def expect(call: Call, name: str, size: int) -> None:
    """Raise UnsupportedError for a tensor that is there and not of that one dim."""
    operand = call.tensor_or_none(name)
    if operand is not None and operand.shape != (size,):
        raise call.refuse(f"its {name} is of {operand.shape}, not of {(size,)}")


def tensors(values: tuple[Arg, ...]) -> Iterator[Operand]:
    for value in values:
        if isinstance(value, Operand):
            yield value
        elif isinstance(value, tuple):
            yield from tensors(value)
