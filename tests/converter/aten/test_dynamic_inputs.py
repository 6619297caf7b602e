"""What is drawn for dynamic dims, numbers as inputs, and what is refused of them."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from sizes import check, export
from torch import nn
from torch.export import Dim

import converter
from converter.errors import UnsupportedError, UsageError
from suites.compare import compare, exact


def generated(model: Path) -> ModuleType:
    path = model.with_name("model_pnnx.py")
    spec = importlib.util.spec_from_file_location("generated", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def save(model: nn.Module, inputs: tuple[Any, ...], dims: Any, folder: Path) -> Path:
    path = folder / "model.pt2"
    torch.export.save(torch.export.export(model.eval(), inputs, dynamic_shapes=dims), path)
    return path


class Halves(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.reshape(x.shape[0] // 2, 2, -1).sum(1)


class Thirds(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.reshape(x.shape[0] // 3, 3, -1).sum(1)


DRAWN = [
    (Halves, {0: Dim.AUTO}, 12, {}, 128),
    (Halves, {0: 2 * Dim("half")}, 12, {}, 256),
    (Halves, {0: 2 * Dim("half", max=32)}, 12, {}, 64),
    (Thirds, {0: Dim.AUTO}, 12, {}, 12),  # 128 has no thirds: the size of the export is taken
    (Halves, {0: Dim.AUTO}, 12, {"inputshape": [[6, 3]], "inputshape2": [[8, 3]]}, 6),
    (Halves, {0: Dim.AUTO}, 12, {"inputshape": [[6, 3]]}, 6),
]


@pytest.mark.parametrize(("model", "dims", "size", "options", "drawn"), DRAWN)
def test_sizes_that_inputs_are_drawn_with(
    model: type[nn.Module], dims: Any, size: int, options: Any, drawn: int, tmp_path: Path
) -> None:
    path = save(model(), (torch.rand(size, 3),), (dims,), tmp_path)
    converter.convert(path, ncnn=False, **options)
    module = generated(path)
    assert module._inputs()[0].shape == (drawn, 3)
    compare(model()(*module._inputs()), module.test_inference(), exact)


class Counted(nn.Module):
    def forward(self, x: torch.Tensor, count: int, y: torch.Tensor) -> tuple[Any, ...]:
        return x[:, :count] * count, torch.zeros(count, x.shape[1]), y.reshape(count, -1), count + 1


def test_numbers_are_inputs(tmp_path: Path) -> None:
    shapes = [(2, 8), 3, (9,)], [(2, 8), 5, (10,)], [(2, 8), 4, (4,)]
    text = check(Counted(), *shapes)
    assert "pnnx_input_1" in text
    assert "number=" in text
    path = export(Counted(), shapes, tmp_path)
    converter.convert(path, ncnn=False)
    assert generated(path)._inputs()[1] == 3


class Specialized(nn.Module):
    def forward(self, x: torch.Tensor, count: int, factor: float) -> torch.Tensor:
        return x[:, :count] * factor


def test_numbers_that_the_export_fixed_are_no_inputs(tmp_path: Path) -> None:
    path = save(Specialized(), (torch.rand(2, 8), 3, 0.5), ({0: Dim.AUTO}, None, None), tmp_path)
    converter.convert(path, ncnn=False)
    module = generated(path)
    x = torch.rand(5, 8)
    compare(x[:, :3] * 0.5, module.Model()(x), exact)


def test_a_dynamic_module_is_exported_as_such_and_converts_again(tmp_path: Path) -> None:
    shapes = [(2, 8), 3, (9,)], [(4, 6), 5, (10,)]
    path = export(Counted(), shapes, tmp_path)
    converter.convert(path, ncnn=False)
    module = generated(path)
    program = torch.export.export(
        module.Model().eval(),
        module._inputs(),
        dynamic_shapes=({0: Dim.AUTO, 1: Dim.AUTO}, Dim.AUTO, {0: Dim.AUTO}),
    )
    torch.export.save(program, path)
    converter.convert(path, ncnn=False)
    again = generated(path).Model()
    inputs = torch.rand(4, 6), 5, torch.rand(10)
    compare(Counted()(*inputs), again(*inputs), exact)


class Items(nn.Module):
    def forward(self, x: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        start = places[0].item()
        torch._check(start >= 0)
        torch._check(start < 5)
        return x.as_strided((3, start + 1), (4, 1))


def test_a_number_that_must_be_constant_is_refused_with_its_line(tmp_path: Path) -> None:
    path = save(Items(), (torch.rand(4, 5), torch.tensor([2])), None, tmp_path)
    with pytest.raises(UnsupportedError, match=r"size depends on .*test_dynamic_inputs.py:\d+"):
        converter.convert(path, ncnn=False)


def test_a_dim_that_the_export_fixed_is_named(tmp_path: Path) -> None:
    path = save(Halves(), (torch.rand(12, 3),), None, tmp_path)
    with pytest.raises(UsageError, match=r"inputshape2: \[8,3\] does not fit x.*for dim 0 of x"):
        converter.convert(path, inputshape=[[12, 3]], inputshape2=[[8, 3]])
