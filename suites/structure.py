"""Compare two `.pnnx.param` graphs up to names and the order of independent operators.

Structural parity: what pnnx makes of a TorchScript file and what the converter makes of the
exported program should be one graph. Types, params, the shapes and dtypes of attributes and
operands, the order and the names of inputs are compared exactly, with allowances for what pnnx
writes:

- Floats are compared in single precision, in which pnnx keeps them.
- A shape or dim that one side does not know is not compared: pnnx writes none for a tensor without
  dims and for what its own passes make; the program of an export none that depends on values.
- An adaptive pool's output size of 0 is the size of the input: the program of an export says that.
- The name of an operator's only input is not compared: it has one name, which pnnx writes or not.

The values of attributes are left to the comparison with eager.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from converter.ir import Graph, Operand, Operator, Param, Shape

Facts = dict[str, Any]
"""What an operator is but for its connections, by what `.pnnx.param` calls each fact."""

Type = tuple[Shape, str | None] | None

_FLOAT = re.compile(r"(?<![\w@])-?(?:\d+\.\d*|\d+(?=e))(?:e[+-]?\d+)?")


class Difference(NamedTuple):
    """One operator that the two graphs do not share.

    `kind` is `only in SIDE` (`ts` or `pt2`), `changed` (the same type with other facts) or `wiring`
    (the same operators, connected otherwise); `detail` says how, in one line.
    """

    kind: str
    type: str
    detail: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.type} {self.detail}".rstrip()


Sides = tuple[str, str]
"""What the two graphs are called."""


def differences(ts: Graph, pt2: Graph, sides: Sides = ("ts", "pt2")) -> list[Difference]:
    """How the graphs differ; an empty list says that they are the same graph."""
    mismatch = _walk(ts, pt2, sides)
    if mismatch is None:
        return []
    return list(_compare_leftovers(ts, pt2, sides)) or [mismatch]


def facts(op: Operator) -> Facts:
    """Everything about an operator but its name, its operands' types and its neighbours."""
    found: Facts = {key: _plain(key, value) for key, value in op.params.items()}
    if "daptive" in op.type:
        found["output_size"] = _plain("output_size", _output_size(op))
    found |= {f"@{key}": (attr.shape, attr.dtype) for key, attr in op.attrs.items()}
    if len(op.inputs) > 1 and any(op.input_names):
        found["$"] = tuple(op.input_names)
    return found


def _output_size(op: Operator) -> Param:
    given, shape = op.params.get("output_size"), op.inputs[0].shape
    if not isinstance(given, tuple) or shape is None or len(given) > len(shape):
        return given
    return tuple(size or old for size, old in zip(given, shape[-len(given) :], strict=True))


def _plain(key: str, value: Param) -> Any:
    """A param so that equal ones compare equal, and only those: `1`, `1.0` and `True` differ."""
    if isinstance(value, tuple):
        return tuple(_plain(key, item) for item in value)
    if isinstance(value, float):
        return f"{_single(value)}f"
    if isinstance(value, complex):
        return f"{np.complex64(value)}"
    if key == "expr" and isinstance(value, str):
        return _FLOAT.sub(lambda number: f"{_single(number[0])}", value)
    return repr(value)


def _single(value: float | str) -> np.float32:
    with np.errstate(over="ignore"):
        return np.float32(value)


def types(op: Operator) -> list[Type]:
    """The types of an operator's operands, None where the shape is not known or has no dims."""
    return [_type(operand) for operand in (*op.inputs, *op.outputs)]


def _type(operand: Operand) -> Type:
    return (operand.shape, operand.dtype) if operand.shape else None


# --- whether they are the same


def _walk(ts: Graph, pt2: Graph, sides: Sides) -> Difference | None:
    """Pair the operators from the ends upwards; where that fails, None if it does not."""
    ends = _ends(ts), _ends(pt2)
    if len(ts.operators) != len(pt2.operators) or len(ends[0]) != len(ends[1]):
        return Difference("wiring", "pnnx.Output", "of other numbers of operators")
    pairs: dict[Operator, Operator] = {}
    partners: dict[Operator, Operator] = {}
    todo = list(zip(*ends, strict=True))
    # Inputs of the graph are told apart by their order.
    todo += zip(ts.of_type("pnnx.Input"), pt2.of_type("pnnx.Input"), strict=False)
    while todo:
        one, other = todo.pop()
        if one in pairs or other in partners:
            if pairs.get(one) is other:
                continue
            return _wiring(one, other, sides, "which stands for one of the other graph already")
        if not _alike(one, other):
            return _wiring(one, other, sides)
        pairs[one], partners[other] = other, one
        for a, b in zip(one.inputs, other.inputs, strict=True):
            (maker, place), (other_maker, other_place) = _source(a), _source(b)
            if place != other_place:
                return _wiring(one, other, sides, "which reads another output")
            todo.append((maker, other_maker))
    return None


def _wiring(one: Operator, other: Operator, sides: Sides, how: str = "") -> Difference:
    place = f"{one.name} in {sides[0]} is where {sides[1]} has {other.type} {other.name} {how}"
    return Difference("wiring", one.type, place)


def _alike(one: Operator, other: Operator) -> bool:
    return (
        one.type == other.type
        and len(one.inputs) == len(other.inputs)
        and len(one.outputs) == len(other.outputs)
        and facts(one) == facts(other)
        and not _other_types(one, other)
    )


def _other_types(one: Operator, other: Operator) -> list[tuple[Type, Type]]:
    """The operands' types that both sides know, and know otherwise."""
    pairs = zip(types(one), types(other), strict=False)
    return [(a, b) for a, b in pairs if a and b and not _agree(a, b)]


def _agree(one: tuple[Shape, str | None], other: tuple[Shape, str | None]) -> bool:
    """Whether two types are the same, as far as both dims are known."""
    dims = zip(one[0], other[0], strict=False)
    return (
        one[1] == other[1]
        and len(one[0]) == len(other[0])
        and all(a == b or "?" in (a, b) for a, b in dims)
    )


def _ends(graph: Graph) -> list[Operator]:
    """The operators whose results nobody reads, in order: the output, above all."""
    return [op for op in graph.operators if not any(out.consumers for out in op.outputs)]


def _source(operand: Operand) -> tuple[Operator, int]:
    assert operand.producer is not None
    return operand.producer, operand.producer.outputs.index(operand)


# --- what tells them apart


Groups = dict[str, list[Operator]]
"""By type, the operators that have no equal in the other graph."""


def _compare_leftovers(ts: Graph, pt2: Graph, sides: Sides) -> Iterator[Difference]:
    counts = Counter(map(_key, ts.operators)), Counter(map(_key, pt2.operators))
    ours = _leftovers(ts, counts[0] - counts[1])
    theirs = _leftovers(pt2, counts[1] - counts[0])
    for type in sorted(ours.keys() | theirs.keys()):
        one, other = ours.get(type, []), theirs.get(type, [])
        for a, b in zip(one, other, strict=False):
            yield Difference("changed", type, _changed(a, b, sides))
        shared = min(len(one), len(other))
        for side, rest in zip(sides, (one[shared:], other[shared:]), strict=True):
            for op in rest:
                yield Difference(f"only in {side}", type, _told(op))


def _key(op: Operator) -> tuple[Any, ...]:
    """What makes operators equal; their shapes only where both are known, so not here."""
    result = _type(op.outputs[0]) if op.outputs else None
    if result is not None and "?" in result[0]:
        result = None
    return op.type, len(op.inputs), len(op.outputs), frozenset(facts(op).items()), result


def _leftovers(graph: Graph, surplus: Counter[Any]) -> Groups:
    left: Groups = defaultdict(list)
    for op in graph.operators:
        if surplus[_key(op)] > 0:
            surplus[_key(op)] -= 1
            left[op.type].append(op)
    return left


def _changed(ts: Operator, pt2: Operator, sides: Sides) -> str:
    left, right = sides
    one, other = facts(ts), facts(pt2)
    keys = sorted(key for key in one.keys() | other.keys() if one.get(key) != other.get(key))
    told = [f"{key}: {left} {_say(key, one)}, {right} {_say(key, other)}" for key in keys]
    told += [f"{left} {_shape(a)}, {right} {_shape(b)}" for a, b in _other_types(ts, pt2)]
    counts = [f"{len(op.inputs)} inputs, {len(op.outputs)} outputs" for op in (ts, pt2)]
    if counts[0] != counts[1]:
        told.append(f"{left} {counts[0]}, {right} {counts[1]}")
    return ", ".join(told) or "of other shapes"


def _told(op: Operator) -> str:
    """The params of an operator, and what comes out of it."""
    known = facts(op)
    words = [f"{key}={_say(key, known)}" for key in known if key[0] not in "@$"]
    outputs = " ".join(_shape(_type(operand)) for operand in op.outputs)
    return " ".join([*words, *([f"-> {outputs}"] if outputs else [])])


def _say(key: str, known: Facts) -> str:
    if key not in known:
        return "has none"
    if key.startswith("@"):
        return _shape(known[key])
    return re.sub(r"[ '\"]", "", str(known[key]))


def _shape(type: Type) -> str:
    return f"({','.join(map(str, type[0]))}){type[1]}" if type else "?"
