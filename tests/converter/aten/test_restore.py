"""Calls that a decomposition says in other words are those of the program before."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
import torch
from equality import Program, decompositions

import converter
from converter.archive.trace import origin
from converter.aten.call import Call
from converter.aten.restore import restored
from converter.ir import Graph, Operand
from suites.exports import plainly
from suites.structure import differences

SAME = (
    "x.t(), x.transpose(0, 1), w.swapaxes(1, 3), w.flatten(1, 2), x.tile(2), x.square()",
    "x.split(2, 1), x.split(4, 1), x.chunk(3, 1), w.narrow(1, 1, 2), x.diag(), x.diag(-2)",
    "x.squeeze(), w.squeeze(0), w.squeeze((0, 1)), torch.max(x, y), torch.min(x, y)",
    "n & 3, n | n, n ^ n, x.clone(), F.dropout(x, training=False), w.contiguous()",
    "F.relu6(x), F.hardtanh(x, 0, 6), F.adaptive_avg_pool2d(w, 1), w.mean((-2, -1), keepdim=True)",
    "F.conv2d(w, k, padding='same'), F.conv2d(w, k, padding='valid'), F.conv2d(w, k, padding=1)",
    "x @ y.t(), torch.mm(x, y.t())",
)
"""Functions between which a decomposition does not tell, side by side."""


def loaded(program: torch.export.ExportedProgram) -> Graph:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.pt2")
        torch.export.save(program, path)
        graph = converter.load(path)
    for op in graph.operators:
        op.params = plainly(op)
    return graph


def test_decomposed_calls_are_spelled_as_before() -> None:
    given = {
        "x": torch.rand(4, 6),
        "y": torch.rand(4, 6),
        "w": torch.rand(1, 4, 6, 5),
        "n": torch.arange(4),
        "k": torch.rand(2, 4, 3, 3),
    }
    program = Program(tuple(SAME), given)
    exported = torch.export.export(program, tuple(given.values()))
    decomposed = exported.run_decompositions(decompositions())
    assert [str(one) for one in differences(loaded(exported), loaded(decomposed))] == []


def call(target: str, origin: str | None, **args: object) -> Call:
    source = Operand("x", (2, 3, 4), "f32")
    return Call(
        target, "n", {"self": source, **args}, [Operand("y", (2, 3, 4), "f32")], origin=origin
    )


@pytest.mark.parametrize(
    "given",
    [
        call("aten.hardtanh.default", "aten.relu6.default", min_val=0, max_val=5),
        call("aten.permute.default", "aten.t.default", dims=(0, 2, 1)),
        call("aten.permute.default", "aten.transpose.int", dims=(1, 2, 0)),
        call(
            "aten.mean.dim",
            "aten.adaptive_avg_pool2d.default",
            dim=(0, 1),
            keepdim=True,
            dtype=None,
        ),
        call(
            "aten.mean.dim",
            "aten.adaptive_avg_pool2d.default",
            dim=(1, 2),
            keepdim=False,
            dtype=None,
        ),
        call("aten.split_with_sizes.default", "aten.chunk.default", split_sizes=(1, 3), dim=2),
        call("aten.split_with_sizes.default", "aten.split.Tensor", split_sizes=(1, 3), dim=2),
        call("aten.split_with_sizes.default", "aten.chunk.default", split_sizes=(), dim=2),
        call("aten.split_with_sizes.default", "aten.chunk.default", split_sizes=(0,), dim=2),
        call("aten.slice.Tensor", "aten.narrow.default", dim=7, start=0, end=1, step=1),
        call("aten.view.default", "aten.flatten.using_ints", size=()),
        call("aten.pow.Tensor_Scalar", "aten.square.default", exponent=3),
        call("aten.squeeze.dims", "aten.squeeze.dim", dim=(0, 1)),
        call("aten.exp.default", "aten.softplus.default"),
        call("aten.clone.default", None, memory_format=None),
    ],
)
def test_a_call_that_is_not_what_the_file_says_stays(given: Call) -> None:
    assert restored(given) is given


NODE = '[{{"name": "permute", "target": "aten.permute.default", "from_node": [{}]}}]'


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", None),
        (
            NODE.format('{"name": "t", "target": "aten.t.default", "from_node": []}'),
            "aten.t.default",
        ),
        (NODE.format(""), "aten.permute.default"),
        (NODE.format('{"target": "<built-in function add>"}'), None),
        (NODE.format('{"target": "aten.t.default\\nimport os"}'), None),
        ('"target": ', None),
    ],
)
def test_where_a_node_comes_from(text: str, found: str | None) -> None:
    assert origin(text) == found
