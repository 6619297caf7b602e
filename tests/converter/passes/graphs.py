"""Small graphs for the tests of passes, written as `.pnnx.param` without its first two lines."""

from __future__ import annotations

from collections.abc import Mapping

from converter.ir import Array, Attribute, Graph
from converter.passes.base import Pass
from converter.passes.dead_code import DeadCode
from converter.pnnx.param import read_param
from suites.structure import differences


def graph(text: str, values: Mapping[str, Array] | None = None) -> Graph:
    """Read a graph; `values` are the stored tensors, by `operator.attribute`."""
    lines = [line for line in text.splitlines() if line.strip()]
    operands = sum(int(line.split()[3]) for line in lines)
    made = read_param("\n".join(["7767517", f"{len(lines)} {operands}", *lines]), "test")
    made.check()
    for name, array in (values or {}).items():
        operator, _, attribute = name.rpartition(".")
        (op,) = (op for op in made.operators if op.name == operator)
        assert op.attrs[attribute].shape == array.shape
        op.attrs[attribute] = Attribute.of(array)
    return made


def assert_becomes(one: Pass, before: Graph, after: str) -> None:
    """Run a pass, which must make that graph of it, but for what nobody reads any more."""
    assert one(before)
    DeadCode()(before)
    assert [str(difference) for difference in differences(before, graph(after))] == []
    assert not one(before), "a second run changes more"


def assert_stays(one: Pass, before: str, values: Mapping[str, Array] | None = None) -> None:
    """Run a pass, which must leave the graph as it is."""
    made = graph(before, values)
    assert not one(made)
    assert [str(difference) for difference in differences(made, graph(before))] == []
