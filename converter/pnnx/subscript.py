"""Operators that become subscripts: `v_0[:, 1:3]`, `v_0[:, v_1]`."""

from __future__ import annotations

from converter.ir import Operand, Operator, Param
from converter.pnnx.expression import Code, Kind, translate
from converter.pnnx.literal import literal
from converter.pnnx.scope import Scope, param, refuse

OPEN = 2147483647
"""pnnx's number for an end that is open, and for an axis of which nothing is selected."""


def slice(op: Operator, scope: Scope) -> None:
    """`dim start end step`, or `dims starts ends steps selects` for several axes."""
    scope.assign(op, f"{scope[_source(op)]}[{_axes(op, scope)}]")


def slice_copy(op: Operator, scope: Scope) -> None:
    """A copy of `self` with `src` in place of the slice; `self` stays as it is."""
    scope.assign(op, f"{scope[_source(op)]}.clone()")
    try:
        value = scope[op.input("src")]
    except KeyError:
        raise refuse(op, "it has no src") from None
    scope.lines.append(f"{scope[op.outputs[0]]}[{_axes(op, scope)}] = {value}")


def slice_indexes(op: Operator, scope: Scope) -> None:
    """Numbers, some of them computed, for a slice of several axes: written where it is read."""
    if len(op.outputs) != 1:
        raise refuse(op, f"it has {len(op.outputs)} results, not 1")
    given = param(op, "indexes")
    codes = [scope.code(operand) for operand in op.inputs]
    try:
        items = [
            translate(item, codes, scope.hoist)
            if isinstance(item, str)
            else Code(literal(item), Kind.number)
            for item in (given if isinstance(given, tuple) else (given,))
        ]
    except ValueError as e:
        raise refuse(op, str(e)) from None
    scope.codes[op.outputs[0]] = Code(scope[op.outputs[0]], Kind.list, items=tuple(items))


def index(op: Operator, scope: Scope) -> None:
    """`expr` lists an index for each axis, None for all of it."""
    scope.assign(op, f"{scope[_source(op)]}[{_indexes(op, scope, 'expr')}]")


def index_put(op: Operator, scope: Scope) -> None:
    """A copy of the input with values put at `indices`."""
    source = scope[_source(op)]
    if op.has_input("values"):
        values = scope[op.input("values")]
    else:
        number = literal(param(op, "values"))
        values = f"torch.tensor({number}, dtype={source}.dtype, device={source}.device)"
    if not op.has_input("indices"):
        raise refuse(op, "it has no indices")
    indices = scope[op.input("indices")]
    accumulate = literal(bool(op.params.get("accumulate", False)))
    scope.assign(op, f"torch.ops.aten.index_put({source}, {indices}, {values}, {accumulate})")


# --- parts


def _source(op: Operator) -> Operand:
    for name in ("input", "self"):
        if op.has_input(name):
            return op.input(name)
    if not op.inputs or (op.input_names and op.input_names[0]):
        raise refuse(op, "it has no input")
    return op.inputs[0]


def _indexes(op: Operator, scope: Scope, name: str) -> str:
    """The items of an index list: `:, v_1` for `[None,@0]`."""
    text = op.params.get(name)
    try:
        if isinstance(text, str):
            code = translate(text, [], scope.hoist)
        elif op.has_input(name):
            code = scope.code(op.input(name))
        else:
            raise refuse(op, "it has no index")
    except ValueError as e:
        raise refuse(op, f"its index: {e}") from None
    if not code.items:
        raise refuse(op, "its index is not a list")
    return ", ".join(":" if item.text == "None" else item.text for item in code.items)


def _axes(op: Operator, scope: Scope) -> str:
    plural = "s" if "dims" in op.params else ""
    dims = _as_tuple(param(op, f"dim{plural}"))
    parts = [
        _parts(op, scope, f"{name}{plural}", len(dims))
        for name in ("select", "start", "end", "step")
    ]
    chosen: dict[int, str] = {}
    for dim, select, start, end, step in zip(dims, *parts, strict=True):
        text = select if select not in _OPEN else _range(start, end, step)
        if chosen.setdefault(_axis(op, dim), text) is not text:
            raise refuse(op, f"dim {dim} stands twice")
    if not chosen:
        raise refuse(op, "it has no dims")
    return ", ".join(chosen.get(axis, ":") for axis in range(max(chosen) + 1))


_MAX_RANK = 64
"""PyTorch's own limit."""

_OPEN = frozenset({"None", str(OPEN), str(2**63 - 1)})


def _range(start: str, end: str, step: str) -> str:
    first = "" if start in _OPEN or start == "0" else start
    last = "" if end in _OPEN else end
    return f"{first}:{last}" + ("" if step in _OPEN or step == "1" else f":{step}")


def _parts(op: Operator, scope: Scope, name: str, count: int) -> list[str]:
    """One part (all starts, say) of each axis as Python; None where it is not given."""
    if op.has_input(name):
        operand = op.input(name)
        items = scope.code(operand).items if name.endswith("s") else ()
        texts = [item.text for item in items] or [scope[operand]]
    else:
        texts = [literal(value) for value in _as_tuple(op.params.get(name, (None,) * count))]
    if len(texts) != count:
        raise refuse(op, f"it has {len(texts)} {name} for {count} dims")
    return texts


def _axis(op: Operator, dim: Param) -> int:
    shape = _source(op).shape
    if isinstance(dim, int):
        if 0 <= dim < (_MAX_RANK if shape is None else len(shape)):
            return dim
        if shape is not None and -len(shape) <= dim < 0:
            return dim + len(shape)
    raise refuse(op, f"{dim!r} is not one of its dims")


def _as_tuple(value: Param) -> tuple[Param, ...]:
    return value if isinstance(value, tuple) else (value,)
