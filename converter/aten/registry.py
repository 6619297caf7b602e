"""Which ATen operators are converted, and how: one row or one decorated function each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from converter.aten.call import Arg, Call
from converter.aten.dtype import torch_dtype
from converter.aten.emit import Emitter
from converter.aten.synonyms import canonical
from converter.ir import Operand, Param
from converter.rules import of_function, went_through

Lowering = Callable[[Call, Emitter], None]

LOWERINGS: dict[str, Lowering] = {}
"""By target without the leading `torch.ops.`: `aten.relu.default`."""

_NAMES: dict[str, str] = {}
"""As `rules.recorded` has them."""


def register(target: str, lowering: Lowering) -> None:
    target = target if target.count(".") > 1 else f"aten.{target}"
    if target in LOWERINGS:
        raise ValueError(f"{target} has two lowerings")
    LOWERINGS[target] = lowering
    _NAMES[target] = of_function(lowering, target.removeprefix("aten."), __name__)


def find(target: str) -> Lowering | None:
    """Look up the lowering of `aten.relu.default`, which is about to be used; None where there is
    none."""
    known = target if target in LOWERINGS else canonical(target)
    if known in LOWERINGS:
        went_through(_NAMES[known])
    return LOWERINGS.get(known)


def lowers(*targets: str) -> Callable[[Lowering], Lowering]:
    """Register the decorated function for these targets (`relu.default` is ATen's)."""

    def decorate(lowering: Lowering) -> Lowering:
        for target in targets:
            register(target, lowering)
        return lowering

    return decorate


def same(
    target: str | Sequence[str],
    type: str,
    *,
    names: Mapping[str, str] | None = None,
    drop: Sequence[str] = (),
    add: Mapping[str, Param] | None = None,
    convert: Mapping[str, Callable[[Any], Param]] | None = None,
    unread: int = 0,
) -> None:
    """Register targets whose arguments are those of the PyTorch-level operator `type`.

    `names` renames arguments (a tensor `self` becomes `input` by itself), `drop` leaves out those
    that the operator does not have, `add` gives it constants that ATen does not name, `convert`
    maps values (dtypes are mapped by themselves). Tensors become named inputs, None and constants
    params. The last `unread` results are by-products that the operator does not return.
    """
    renamed = names or {}
    dropped = frozenset(drop)
    conversions = {"dtype": optional_dtype, **(convert or {})}

    def lowering(call: Call, emit: Emitter) -> None:
        arguments: dict[str, Arg] = {}
        for name, value in call.args.items():
            if name in dropped:
                continue
            if name in conversions:
                value = conversions[name](value)
            if name == "self" and isinstance(value, Operand):
                name = "input"
            arguments[renamed.get(name, name)] = value
        kept = len(call.outputs) - unread
        for output in call.outputs[kept:]:
            emit.unread(output)
        emit.op(type, call.outputs[:kept], **arguments, **(add or {}))

    for one in [target] if isinstance(target, str) else target:
        register(one, lowering)


def joins(target: str | Sequence[str], type: str) -> None:
    """Register targets whose first argument is a list of tensors, the unnamed inputs of `type`."""

    def lowering(call: Call, emit: Emitter) -> None:
        tensors, *others = call.args
        params = {name: call.param(name) for name in others}
        outputs = call.outputs
        emit.positional(type, outputs, call.tensors(tensors), **params)

    for one in [target] if isinstance(target, str) else target:
        register(one, lowering)


def overloads(names: str, *suffixes: str) -> list[str]:
    """List the targets of several operators: each name with each overload."""
    return [f"{name}.{suffix}" for name in names.split() for suffix in suffixes or ("default",)]


def optional_dtype(value: Arg) -> Param:
    return None if value is None else torch_dtype(value)


def alias(*targets: str, arg: str = "self") -> None:
    """Register targets that return their argument as it is (in inference)."""

    def lowering(call: Call, emit: Emitter) -> None:
        emit.alias(call.output, call.tensor(arg))

    for target in targets:
        register(target, lowering)


def none_if_empty(value: Arg) -> Param:
    """`stride=[]` means that PyTorch takes the kernel's size: pnnx writes None."""
    return None if value == () else cast(Param, value)
