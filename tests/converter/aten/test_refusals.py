"""Refusals name the operator, the user's own line, what to do, and whether TorchScript may help."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch._higher_order_ops.map import map as torch_map
from torch._higher_order_ops.scan import scan
from torch._higher_order_ops.while_loop import while_loop

import converter
from converter.errors import TORCHSCRIPT, UnsupportedError


class Cond(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, (x,))


class While(nn.Module):
    def forward(self, x: torch.Tensor) -> Any:
        return while_loop(lambda x: x.sum() > 0, lambda x: (x - 1,), (x,))


class Scan(nn.Module):
    def forward(self, x: torch.Tensor) -> Any:
        return scan(lambda total, row: (total + row, total * row), torch.zeros(3), x)


class Map(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch_map(lambda row: row + 1, x)


class Mapped(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.vmap(lambda row: row.sum())(x)


class Derivative(nn.Module):
    def forward(self, x: torch.Tensor) -> Any:
        return torch.func.jvp(torch.sin, (x,), (x,))


class Printing(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        torch.ops.aten._print("here")
        return x + 1


class Inner(nn.Module):
    """In a branch of a module of a module: the line is the innermost module's."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(3, 3), Cond())

    def forward(self, x: torch.Tensor) -> Any:
        return self.inner(x)


class Autocast(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return torch.mm(x, x.t())


x = torch.rand(4, 3)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(
    ("model", "told", "torchscript"),
    [
        (Cond, "higher_order.cond: which branch runs depends on values", False),
        (While, "higher_order.while_loop: how often it runs depends on values", False),
        (Scan, "higher_order.scan: graphs have no loops", False),
        (Map, "higher_order.map_impl: graphs have no loops", False),
        (Mapped, "graphs have no torch.vmap", True),
        (Derivative, "graphs have no derivatives", False),
        (Printing, "graphs do not print", False),
        (Autocast, "torch.autocast chooses dtypes as the model runs", False),
    ],
)
def test_operators_that_take_graphs(
    model: Callable[[], nn.Module], told: str, torchscript: bool, strict: bool, tmp_path: Path
) -> None:
    """The line is one of the model's, though torch.export records its own for some of them."""
    with torch.no_grad():
        program = torch.export.export(model().eval(), (x,), strict=strict)
    torch.export.save(program, tmp_path / "m.pt2")
    with pytest.raises(UnsupportedError) as refused:
        converter.convert(tmp_path / "m.pt2", ncnn=False)
    text = str(refused.value)
    assert told in text
    assert refused.value.where is not None
    lines, first = inspect.getsourcelines(model)
    assert refused.value.where.file == __file__
    assert first <= refused.value.where.line < first + len(lines)
    assert refused.value.torchscript is torchscript
    assert (TORCHSCRIPT in text) is torchscript
    assert "; " in text


def test_a_branch_in_a_module_of_a_module(tmp_path: Path) -> None:
    with torch.no_grad():
        program = torch.export.export(Inner().eval(), (x,))
    torch.export.save(program, tmp_path / "m.pt2")
    with pytest.raises(UnsupportedError, match=r"return torch\.cond.* \(in inner\.1\)"):
        converter.convert(tmp_path / "m.pt2", ncnn=False)


@torch.library.custom_op("refused::increment", mutates_args={"x"})
def increment(x: torch.Tensor) -> None:
    x.add_(1)


class Incrementing(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x + 0
        torch.ops.refused.increment(y)
        return y


@pytest.mark.parametrize("customop", [(), ("refused.increment",)])
def test_a_custom_operator_that_returns_nothing(customop: Sequence[str], tmp_path: Path) -> None:
    """It cannot be kept either: what it writes would be lost."""
    torch.export.save(torch.export.export(Incrementing(), (x,)), tmp_path / "m.pt2")
    with pytest.raises(UnsupportedError, match=r"returns no.*let it return new tensors"):
        converter.convert(tmp_path / "m.pt2", ncnn=False, customop=customop)


class Dropping(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.dropout(x + 1, inplace=True)


@pytest.mark.parametrize("decomposed", [False, True])
@pytest.mark.parametrize(
    ("model", "told"),
    [
        (lambda: nn.BatchNorm1d(3), "it updates running statistics in training mode"),
        (
            lambda: nn.InstanceNorm1d(4, track_running_stats=True),
            "it updates running statistics in training mode",
        ),
        (nn.Dropout, "it is random in training mode"),
        (nn.AlphaDropout, "it is random in training mode"),
        (Dropping, "it is random in training mode"),
        (lambda: nn.RReLU(), "it draws random slopes in training mode"),
    ],
)
def test_training_mode_is_told_alike(
    model: Callable[[], nn.Module], told: str, decomposed: bool, tmp_path: Path
) -> None:
    program = torch.export.export(model().train(), (x,))
    if decomposed:
        program = program.run_decompositions()
    torch.export.save(program, tmp_path / "m.pt2")
    with pytest.raises(UnsupportedError, match=told) as refused:
        converter.convert(tmp_path / "m.pt2", ncnn=False)
    assert "call model.eval() before the export" in str(refused.value)
    assert refused.value.where is not None


def test_an_operator_without_a_conversion_may_be_traced(tmp_path: Path) -> None:
    class Histogram(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.ops.aten._segment_reduce_backward.default(
                x[:, 0], x[:, 0], x[:, 0], "sum", offsets=torch.tensor([0, 4])
            )

    with torch.no_grad():
        program = torch.export.export(Histogram(), (x,))
    torch.export.save(program, tmp_path / "m.pt2")
    with pytest.raises(UnsupportedError, match="no conversion is known") as refused:
        converter.convert(tmp_path / "m.pt2", ncnn=False)
    assert refused.value.torchscript
