"""The rules that conversions go through are told by where they stand."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
import torch

import converter
from converter.aten import operators  # noqa: F401 (fills the registry)
from converter.aten.registry import _NAMES
from converter.ncnn.registry import RULES
from converter.passes.evaluate import EVALUATORS
from converter.passes.pipeline import LAYOUT, OPTIMIZATION, SPELLING
from converter.rules import named, recorded

ROOT = Path(converter.__file__).parent
NAMES = {
    *_NAMES.values(),
    *(rule.name for rule in RULES.values()),
    *(named(one.__module__, one.__qualname__) for one in EVALUATORS.values()),
    *(one.rule for one in (*LAYOUT, *SPELLING, *OPTIMIZATION)),
}


def test_every_rule_stands_in_its_file() -> None:
    """A function or a class under its name; a row in a file that makes rows."""
    top: dict[str, set[str]] = {}
    for rule in sorted(NAMES):
        file, name = rule.split(":", 1)
        if file not in top:
            tree = ast.parse((ROOT / file).read_text())
            top[file] = {
                node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)
            }
        is_row = "." in name
        assert is_row != (name in top[file]), rule


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        grid = torch.meshgrid(torch.arange(3), torch.arange(2), indexing="ij")
        return torch.erfinv(torch.nn.functional.hardtanh(x.t())) + grid[0]


def test_a_conversion_is_recorded_also_where_it_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "model.pt2"
    torch.export.save(torch.export.export(Model(), (torch.rand(2, 3),)), file)
    with recorded() as rules:
        made = converter.convert(file)
    assert made.ncnn_refusal is not None
    assert {"aten/activation.py:hardtanh.default", "ncnn/activation.py:hardtanh"} <= rules
    assert "passes/evaluate_tables.py:meshgrid" in rules, "its constants are worked out"
    with recorded() as none:
        pass
    assert not none
    with recorded() as refused, pytest.raises(converter.ConvertError):
        converter.convert(file, inputshape=[[7, 8, 9]])
    assert not refused
