"""The sizes of operands and arguments, as the rules of counting read them."""

from __future__ import annotations

import re
from math import prod

from converter.ir import Operand, Operator


def is_known(op: Operator) -> bool:
    """Whether the sizes of all operands are known, or it is a number or a word."""
    if op.type == "pnnx.Expression" and not op.inputs:
        return True
    operands = (*op.inputs, *op.outputs)
    return all(
        operand.shape is not None and all(isinstance(dim, int) for dim in operand.shape)
        for operand in operands
    )


def dims(operand: Operand) -> tuple[int, ...]:
    """The shape of an operand whose sizes are known."""
    return tuple(dim for dim in operand.shape or () if isinstance(dim, int))


def size(operand: Operand) -> int:
    """The number of elements."""
    return prod(dims(operand))


def function(op: Operator) -> str:
    """One name for the function, the method and the module, of whatever number of dims:
    `leakyrelu`, `conv`.
    """
    name = op.type.rpartition(".")[2].replace("_", "").lower()
    return re.sub(r"[123]d$", "", name)


def integers(op: Operator, name: str) -> tuple[int, ...]:
    """A param that is an int or a tuple of ints."""
    value = op.params.get(name)
    items = value if isinstance(value, tuple) else (value,)
    return tuple(item for item in items if isinstance(item, int))


def window(op: Operator) -> int:
    """The elements of a pool's window."""
    kernel = integers(op, "kernel_size")
    rank = int(op.type[-2])
    return prod(kernel * rank if len(kernel) == 1 else kernel)


def tensor(op: Operator, name: str) -> tuple[int, ...] | None:
    """The shape of a weight or bias, held or passed; None where there is none."""
    if name in op.attrs:
        return op.attrs[name].shape
    return dims(op.input(name)) if op.has_input(name) else None


def reduced(op: Operator) -> int:
    """The elements that are left when the dims of `dim` are reduced."""
    shape = dims(op.inputs[0])
    gone = {dim % max(len(shape), 1) for dim in integers(op, "dim")}
    return prod(extent for dim, extent in enumerate(shape) if dim not in gone)
