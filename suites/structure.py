"""Compare two `.pnnx.param` graphs up to names and the order of independent operators.

Structural parity: what pnnx makes of a TorchScript file and what the converter makes of the
exported program should be one graph. Types, params, the shapes and dtypes of attributes and
operands, the order and the names of inputs are compared exactly; floats in single precision, in
which pnnx keeps them. The values of attributes are left to the comparison with eager.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from converter.ir import Graph, Operand, Operator, Param, Shape

Facts = dict[str, Any]
"""What an operator is but for its connections, by what `.pnnx.param` calls each fact."""

Type = tuple[Shape, str | None] | None


class Difference(NamedTuple):
    """One operator that the two graphs do not share.

    `kind` is `only in ts`, `only in pt2`, `changed` (the same type with other facts) or `wiring`
    (the same operators, connected otherwise); `detail` says how, in one line.
    """

    kind: str
    type: str
    detail: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.type} {self.detail}".rstrip()


def differences(ts: Graph, pt2: Graph) -> list[Difference]:
    """How the graphs differ; an empty list says that they are the same graph."""
    mismatch = _walk(ts, pt2)
    if mismatch is None:
        return []
    only_ts, only_pt2 = _unshared(ts, pt2)
    found = [*_compare_leftovers(only_ts, only_pt2)]
    return found or [Difference("wiring", *mismatch)]


def facts(op: Operator, serial: int = 0) -> Facts:
    """Everything about an operator but its name and its neighbours.

    `serial` tells inputs of the graph apart, whose order matters.
    """
    found: Facts = {key: _plain(value) for key, value in op.params.items()}
    found |= {f"@{key}": (attr.shape, attr.dtype) for key, attr in op.attrs.items()}
    found["$"] = _input_names(op)
    found["#in"] = tuple(map(_type, op.inputs))
    found["#out"] = tuple(map(_type, op.outputs))
    if op.type == "pnnx.Input":
        found["order"] = serial
    return found


def _input_names(op: Operator) -> tuple[str, ...]:
    """The names of inputs. A module's only input has one name, which pnnx's fusions alone write."""
    if op.type.startswith("nn.") and len(op.inputs) == 1:
        return ()
    return tuple(op.input_names) if any(op.input_names) else ()


def _type(operand: Operand) -> Type:
    """Shape and dtype, None where they are not written: pnnx has no way to say "no dims"."""
    return (operand.shape, operand.dtype) if operand.shape else None


def _plain(value: Param) -> Any:
    """A param so that equal ones compare equal, and only those: `1`, `1.0` and `True` differ."""
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    if isinstance(value, float):
        return f"{np.float32(value)!s}f"
    if isinstance(value, complex):
        return f"{np.complex64(value)!s}"
    return repr(value)


def _all_facts(graph: Graph) -> dict[Operator, Facts]:
    serial = Counter[str]()
    found = {}
    for op in graph.operators:
        found[op] = facts(op, serial[op.type])
        serial[op.type] += 1
    return found


def _walk(ts: Graph, pt2: Graph) -> tuple[str, str] | None:
    """Pair the operators from the ends upwards; type and detail of where that fails, else None."""
    facts_ts, facts_pt2 = _all_facts(ts), _all_facts(pt2)
    ends_ts, ends_pt2 = _ends(ts), _ends(pt2)
    if len(ts.operators) != len(pt2.operators) or len(ends_ts) != len(ends_pt2):
        return "pnnx.Output", "of other numbers of operators"
    pairs: dict[Operator, Operator] = {}
    partners: dict[Operator, Operator] = {}
    todo = list(zip(ends_ts, ends_pt2, strict=True))
    while todo:
        one, other = todo.pop()
        if one in pairs or other in partners:
            if pairs.get(one) is not other:
                return one.type, f"{one.name} in ts stands in for two of pt2, or the other way"
            continue
        if one.type != other.type or facts_ts[one] != facts_pt2[other]:
            return one.type, f"{one.name} in ts is where pt2 has {other.type} {other.name}"
        pairs[one], partners[other] = other, one
        for a, b in zip(one.inputs, other.inputs, strict=True):
            (maker, place), (other_maker, other_place) = _source(a), _source(b)
            if place != other_place:
                return one.type, f"{one.name} reads another output in ts than in pt2"
            todo.append((maker, other_maker))
    return None


def _ends(graph: Graph) -> list[Operator]:
    """The operators whose results nobody reads, in order: the output, above all."""
    return [op for op in graph.operators if not any(out.consumers for out in op.outputs)]


def _source(operand: Operand) -> tuple[Operator, int]:
    assert operand.producer is not None
    return operand.producer, operand.producer.outputs.index(operand)


Leftovers = dict[str, list[tuple[Operator, Facts]]]
"""By type, the operators that have no equal in the other graph."""


def _unshared(ts: Graph, pt2: Graph) -> tuple[Leftovers, Leftovers]:
    facts_ts, facts_pt2 = _all_facts(ts), _all_facts(pt2)
    count_ts = Counter(map(_key, facts_ts.items()))
    count_pt2 = Counter(map(_key, facts_pt2.items()))
    return _leftovers(facts_ts, count_ts - count_pt2), _leftovers(facts_pt2, count_pt2 - count_ts)


def _key(item: tuple[Operator, Facts]) -> tuple[str, frozenset[tuple[str, Any]]]:
    op, known = item
    return op.type, frozenset(known.items())


def _leftovers(known: dict[Operator, Facts], surplus: Counter[Any]) -> Leftovers:
    left: Leftovers = defaultdict(list)
    for item in known.items():
        if surplus[_key(item)] > 0:
            surplus[_key(item)] -= 1
            left[item[0].type].append(item)
    return left


def _compare_leftovers(ts: Leftovers, pt2: Leftovers) -> Iterator[Difference]:
    for type in sorted(ts.keys() | pt2.keys()):
        ours, theirs = ts.get(type, []), pt2.get(type, [])
        shared = min(len(ours), len(theirs))
        for (_, one), (_, other) in zip(ours, theirs, strict=False):
            yield Difference("changed", type, _changed(one, other))
        for kind, rest in (("only in ts", ours[shared:]), ("only in pt2", theirs[shared:])):
            for _, known in rest:
                yield Difference(kind, type, _told(known))


def _changed(ts: Facts, pt2: Facts) -> str:
    keys = sorted(key for key in ts.keys() | pt2.keys() if ts.get(key) != pt2.get(key))
    return ", ".join(f"{key}: ts {_say(key, ts)}, pt2 {_say(key, pt2)}" for key in keys)


def _told(known: Facts) -> str:
    """The params of an operator, and what comes out of it."""
    shown = [key for key in known if key[0] not in "@$#"] + ["#out"]
    return " ".join(f"{key}={_say(key, known)}" for key in shown)


def _say(key: str, known: Facts) -> str:
    if key not in known:
        return "has none"
    value = known[key]
    if key.startswith("#"):
        return " ".join(_shape(one) for one in value) or "nothing"
    if key.startswith("@"):
        return _shape(value)
    return str(value).replace(" ", "").replace("'", "").replace('"', "")


def _shape(type: Type) -> str:
    return f"({','.join(map(str, type[0]))}){type[1]}" if type else "?"
