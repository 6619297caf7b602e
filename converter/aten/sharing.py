"""Which results of an ATen call share memory with its arguments."""

from __future__ import annotations

from converter.archive.program import Body
from converter.archive.values import TensorRef, Value
from converter.archive.weights import is_contiguous
from converter.aten.schema_table import OpSchema
from converter.dims import product
from converter.symbols import Symbols

RETURNS_SELF = frozenset(
    {"alpha_dropout", "dropout", "feature_alpha_dropout", "feature_dropout", "type_as"}
)
UNSAFE = frozenset({"_unsafe_view", "unsafe_chunk", "unsafe_split", "unsafe_split_with_sizes"})
"""Operators whose results show their first argument, though their schemas do not say so."""

UNTOLD = frozenset(
    {
        *("atleast_1d", "atleast_2d", "atleast_3d", "broadcast_tensors", "cartesian_prod"),
        *("chain_matmul", "channel_shuffle", "einsum", "linalg_multi_dot", "meshgrid"),
        *("native_channel_shuffle", "pixel_shuffle", "pixel_unshuffle", "sum_to_size"),
    }
)
"""Operators whose results may show any argument, though their schemas do not say so."""

JOINING = frozenset({"cartesian_prod", "chain_matmul", "einsum", "linalg_multi_dot"})
"""Of those, the ones that may show a tensor that is alone; the product of several is a new one."""

RESHAPES = frozenset({"flatten", "ravel", "reshape", "reshape_as"})
"""Views where the strides allow it, copies elsewhere."""

RETURNS_SELF_OR_COPY = frozenset({"contiguous", "to", "type_as"})


def viewed(op: OpSchema, inputs: tuple[tuple[str, Value], ...]) -> list[tuple[str, str]]:
    """List the arguments that results may share memory with, each with a tensor's name."""
    if op.name in UNTOLD:
        arguments = {argument.name for argument in op.arguments}
    elif op.name in RETURNS_SELF | UNSAFE:
        arguments = {op.arguments[0].name}
    else:
        arguments = {argument.name for argument in op.arguments if argument.type.alias}
    found: list[tuple[str, str]] = []
    for argument, value in inputs:
        if argument in arguments:
            values = value if isinstance(value, tuple) else (value,)
            found += ((argument, item.name) for item in values if isinstance(item, TensorRef))
    return [] if op.name in JOINING and len(found) > 1 else found


def shares(
    op: OpSchema, given: dict[str, Value], source: str, result: str, body: Body, symbols: Symbols
) -> bool | None:
    """Tell whether a result is a view of a tensor that it may share memory with; None: unknown.

    Where PyTorch views or copies depending on strides, those of the export tell which.
    """
    if op.name in UNTOLD or (op.name == "to" and (given.get("device") or "other" in given)):
        return None
    if op.name in RESHAPES:
        dense = [is_dense(name, body, symbols) for name in (source, result)]
        return None if None in dense else bool(dense[0] or not dense[1])
    if op.name in RETURNS_SELF_OR_COPY:
        return (
            not given.get("copy")
            and body.tensors[source] == body.tensors[result]
            and body.strides[source] == body.strides[result]
        )
    return True


def is_dense(name: str, body: Body, symbols: Symbols) -> bool | None:
    """Tell whether a tensor is contiguous; None where that depends on sizes, or on values."""
    shape, strides = symbols.known(body.tensors[name].shape), symbols.known(body.strides[name])
    sizes = [size for size in shape if isinstance(size, int)]
    steps = [step for step in strides if isinstance(step, int)]
    if len(sizes) == len(shape) and len(steps) == len(strides):
        return is_contiguous(sizes, steps)
    dense = [product(shape[place + 1 :]) for place in range(len(shape))]
    same = all(
        size == 1 or step == wanted
        for size, step, wanted in zip(shape, strides, dense, strict=True)
    )
    return True if same else None
