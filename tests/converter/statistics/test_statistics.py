"""Operations and memory, as pnnx counts them: of single operators and of whole networks."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch
from torch import nn

import converter
from converter.ir import Attribute, Graph
from converter.pnnx.param import NoData
from converter.pnnx.value import parse_value
from converter.statistics import human, statistics
from suites.pnnx_program import convert

TABLE = Path(__file__).with_name("counted_by_pnnx.txt")
ROWS = [row for row in TABLE.read_text().splitlines() if not row.startswith("#")]


def graph_of(row: str) -> tuple[Graph, str]:
    """The graph of one operator that a row describes, and what pnnx counts."""
    operator, operands, counted = row.split(" : ")
    type, *words = operator.split()
    given, made = operands.split("->")
    graph = Graph()
    inputs, names = [], []
    for place, word in enumerate(given.split()):
        name, _, dims = word.rpartition("=")
        inputs.append(graph.operand(f"in{place}", shape(dims), "f32"))
        names.append(name)
        graph.add("pnnx.Input", f"input{place}", (), inputs[-1:])
    outputs = [graph.operand(f"out{i}", shape(dims), "f32") for i, dims in enumerate(made.split())]
    op = graph.add(type, "op", inputs, outputs, input_names=names)
    for word in words:
        key, _, value = word.partition("=")
        if key.startswith("@"):
            op.attrs[key[1:]] = Attribute("f32", shape(value), NoData())
        else:
            op.params[key] = value if key == "expr" else parse_value(value)
    return graph, counted


def shape(text: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", text)))


@pytest.mark.parametrize("row", ROWS)
def test_single_operators(row: str) -> None:
    graph, counted = graph_of(row)
    found = statistics(graph)
    assert f"{human(found.operations)} {human(found.memory)}" == counted


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (999, "999"),
        (1000, "1K"),
        (999_999, "999.999K"),
        (1_234_567, "1.235M"),
        (1_999_600, "2M"),
        (4_246_732_800, "4.247G"),
    ],
)
def test_numbers_are_rounded_to_three_digits(number: int, text: str) -> None:
    assert human(number) == text


def test_what_has_a_dynamic_size_counts_nothing() -> None:
    graph = Graph()
    x = graph.operand("x", (1, "s0"), "f32")
    y = graph.operand("y", (1, "s0"), "f32")
    graph.add("pnnx.Input", "input", (), [x])
    graph.add("F.relu", "relu", [x], [y])
    assert statistics(graph).lines() == [
        "model inputshape = [1,?]f32",
        "FLOPS = 0",
        "memory OPS = 0",
    ]


class Convolutions(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, stride=2, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(8)
        self.down = nn.Conv2d(8, 8, 3, groups=8, padding=1)
        self.up = nn.ConvTranspose2d(8, 4, 2, stride=2)
        self.head = nn.Linear(4, 5)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        x = torch.relu(self.norm(self.stem(x)))
        x = x + nn.functional.hardswish(self.down(x))
        x = self.up(nn.functional.max_pool2d(x, 2))
        y = nn.functional.adaptive_avg_pool2d(x, 1).flatten(1)
        return torch.softmax(self.head(y), 1), nn.functional.interpolate(x, scale_factor=2)


class Sequences(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(20, 8)
        self.lstm = nn.LSTM(8, 6, batch_first=True, bidirectional=True)
        self.norm = nn.LayerNorm(12)
        self.attention = nn.MultiheadAttention(12, 3, batch_first=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.norm(self.lstm(self.table(x))[0])
        return self.attention(y, y, y, need_weights=False)[0] * 0.5 + y.mean(1, keepdim=True)


@pytest.mark.parametrize(
    ("model", "given"),
    [(Convolutions(), torch.rand(2, 3, 16, 16)), (Sequences(), torch.randint(10, (2, 7)))],
    ids=["convolutions", "sequences"],
)
def test_networks_count_what_pnnx_says(
    model: nn.Module, given: torch.Tensor, tmp_path: Path
) -> None:
    with torch.no_grad():
        torch.jit.trace(model.eval(), (given,)).save(tmp_path / "ts.pt")
        torch.export.save(torch.export.export(model, (given,)), tmp_path / "pt2.pt2")
    printed = convert(tmp_path / "ts.pt", ["fp16=0"], [tmp_path / "ts_pnnx.py"], limit=60)
    converted = converter.convert(tmp_path / "pt2.pt2", ncnn=False)
    assert converted.statistics is not None
    lines = converted.statistics.lines()
    assert "\n".join(lines) in printed
    for module in ("ts_pnnx.py", "pt2_pnnx.py"):
        head = (tmp_path / module).read_text().split("\n\n")[0]
        assert head == "\n".join(f"# {line}" for line in ("pnnx model stat", *lines))
