"""Patterns written as pnnx writes graphs: a few lines of `.param` text.

    pnnx.Input      x    0 1 x
    nn.Conv2d       conv 1 1 x a
    nn.BatchNorm2d  bn   1 1 a out
    pnnx.Output     out  1 0 out

Operators match by type (alternatives are joined with `|`), by their connections and by the params
that the line names: `dim=1` must be equal, `dim=%dim` is captured, and so is a number inside a
formula (`expr=mul(@0,%beta)`). Operands inside the pattern may be read inside the pattern only. The
line before the output is where matching starts.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

from converter.ir import Graph, Operand, Operator, Param
from converter.passes.base import Pass
from converter.pnnx.value import parse_value


@dataclass(frozen=True)
class Line:
    """One operator of a pattern."""

    types: frozenset[str]
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    params: tuple[tuple[str, str], ...]


@dataclass
class Match:
    """Where a pattern was found: operators and operands by the pattern's names, captured params."""

    operators: dict[str, Operator] = field(default_factory=dict)
    operands: dict[str, Operand] = field(default_factory=dict)
    captured: dict[str, Param] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Operator:
        return self.operators[name]


class Pattern:
    """A parsed pattern."""

    def __init__(self, text: str) -> None:
        lines = [_parse(line) for line in text.strip().splitlines()]
        self.inputs = {
            name for line in lines if "pnnx.Input" in line.types for name in line.outputs
        }
        self.outputs = {
            name for line in lines if "pnnx.Output" in line.types for name in line.inputs
        }
        self.lines = [line for line in lines if not line.types & {"pnnx.Input", "pnnx.Output"}]
        self.producer = {name: line for line in self.lines for name in line.outputs}
        self._check()

    def _check(self) -> None:
        """Raise ValueError for a line that matching, which follows inputs from the last, misses."""
        reached, todo = set(), [self.lines[-1]]
        while todo:
            line = todo.pop()
            reached.add(line.name)
            todo += (self.producer[name] for name in line.inputs if name in self.producer)
        missed = [line.name for line in self.lines if line.name not in reached]
        if missed:
            raise ValueError(f"the last line of the pattern does not come from {missed}")

    def matches(self, graph: Graph) -> Iterator[Match]:
        """Find the pattern, in topological order; the graph may be rewritten between matches."""
        root = self.lines[-1]
        for op in [op for op in graph.operators if op.type in root.types]:
            match = Match()
            found = op.outputs[0].producer is op and self._operator(root, op, match)
            if found and len(match.operators) == len(self.lines) and self._closed(match):
                yield match

    def _operator(self, line: Line, op: Operator, match: Match) -> bool:
        if line.name in match.operators:
            return match.operators[line.name] is op
        if op.type not in line.types or op in match.operators.values():
            return False
        if len(op.inputs) != len(line.inputs) or len(op.outputs) != len(line.outputs):
            return False
        match.operators[line.name] = op
        return (
            all(_param(key, value, op, match) for key, value in line.params)
            and all(
                self._bind(name, o, match) for name, o in zip(line.outputs, op.outputs, strict=True)
            )
            and all(
                self._operand(name, o, match)
                for name, o in zip(line.inputs, op.inputs, strict=True)
            )
        )

    def _operand(self, name: str, operand: Operand, match: Match) -> bool:
        if not self._bind(name, operand, match):
            return False
        line = self.producer.get(name)
        if line is None:
            return True
        return operand.producer is not None and self._operator(line, operand.producer, match)

    @staticmethod
    def _bind(name: str, operand: Operand, match: Match) -> bool:
        return match.operands.setdefault(name, operand) is operand

    def _closed(self, match: Match) -> bool:
        inside = set(match.operators.values())
        return all(
            name in self.inputs or name in self.outputs or inside.issuperset(operand.consumers)
            for name, operand in match.operands.items()
        )


class PatternPass(Pass):
    """A pass that rewrites each place where its pattern is found."""

    pattern: str

    def run(self, graph: Graph) -> int:
        return sum(self.rewrite(graph, match) for match in Pattern(self.pattern).matches(graph))

    @abstractmethod
    def rewrite(self, graph: Graph, match: Match) -> bool:
        """Rewrite one match; return False, with the graph untouched, where it does not apply."""


def _parse(line: str) -> Line:
    types, name, n_in, n_out, *rest = line.split()
    ins, outs = int(n_in), int(n_out)
    return Line(
        frozenset(types.split("|")),
        name,
        tuple(rest[:ins]),
        tuple(rest[ins : ins + outs]),
        tuple(
            (key, value) for key, _, value in (word.partition("=") for word in rest[ins + outs :])
        ),
    )


def _param(key: str, wanted: str, op: Operator, match: Match) -> bool:
    if key not in op.params:
        return False
    if wanted.startswith("%"):
        return match.captured.setdefault(wanted[1:], op.params[key]) == op.params[key]
    if key == "expr":
        return _expression(wanted, op.params[key], match)
    return op.params[key] == parse_value(wanted)


def _expression(wanted: str, text: Param, match: Match) -> bool:
    """Compare the texts of formulas; `%name` in one stands for a number."""
    found = _formula(wanted).fullmatch(text) if isinstance(text, str) else None
    if found is None:
        return False
    numbers = {name: parse_value(number) for name, number in found.groupdict().items()}
    return all(
        match.captured.setdefault(name, number) == number for name, number in numbers.items()
    )


@cache
def _formula(wanted: str) -> re.Pattern[str]:
    """A formula in which numbers are captured: `div(@0,%beta)`."""
    return re.compile(re.sub(r"%(\w+)", r"(?P<\1>[^@(),]+)", re.escape(wanted)))
