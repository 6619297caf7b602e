"""Which ATen operators are converted, and how: one row or one decorated function each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from converter.aten.call import Arg, Call
from converter.aten.emit import Emitter
from converter.ir import Param

Lowering = Callable[[Call, Emitter], None]

LOWERINGS: dict[str, Lowering] = {}
"""By target without the leading `torch.ops.`: `aten.relu.default`."""


def register(target: str, lowering: Lowering) -> None:
    target = target if target.count(".") > 1 else f"aten.{target}"
    if target in LOWERINGS:
        raise ValueError(f"{target} has two lowerings")
    LOWERINGS[target] = lowering


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
) -> None:
    """Register targets whose arguments are those of the PyTorch-level operator `type`.

    `names` renames arguments (`self` becomes `input` by itself), `drop` leaves out those that the
    operator does not have, `add` gives it constants that ATen does not name, `convert` maps values.
    Tensors become named inputs, None and constants become params.
    """
    renamed = {"self": "input", **(names or {})}
    dropped = frozenset(drop)

    def lowering(call: Call, emit: Emitter) -> None:
        arguments: dict[str, Arg] = {}
        for name, value in call.args.items():
            if name in dropped:
                continue
            if convert and name in convert:
                value = convert[name](value)
            arguments[renamed.get(name, name)] = value
        emit.op(type, call.outputs, **arguments, **(add or {}))

    for one in [target] if isinstance(target, str) else target:
        register(one, lowering)


def alias(*targets: str, arg: str = "self") -> None:
    """Register targets that return their argument as it is (in inference)."""

    def lowering(call: Call, emit: Emitter) -> None:
        emit.alias(call.output, call.tensor(arg))

    for target in targets:
        register(target, lowering)


def none_if_empty(value: Arg) -> Param:
    """`stride=[]` means that PyTorch takes the kernel's size: pnnx writes None."""
    return None if value == () else cast(Param, value)
