"""What a generated module exports of itself converts again, to the same results."""

from __future__ import annotations

import pytest
import torch

from converter import convert
from suites import compare
from suites.frontends import ExportedProgram, generated, import_generated
from suites.inputs import draw
from suites.needs import lacking
from suites.registry import discover, load

SAMPLE = [info.name for info in discover() if not lacking(info.needs)][::29]


@pytest.mark.parametrize("name", SAMPLE)
def test_exported_again(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    case = load(name)
    frontend = ExportedProgram(case)
    with torch.no_grad():
        frontend.export(case.cls().eval(), draw(case.inputs, "cpu"))
        frontend.convert(["pnnx"])
        module = import_generated(generated(name, "pnnx"))
        first = module.test_inference()
        module.export_exported_program()
        converted = convert(f"{name}_pnnx.py.pt2", fp16=False, ncnn=False, pnnxpy="again_pnnx.py")
        second = import_generated(tmp_path / "again_pnnx.py").test_inference()
    compare.compare(first, second, compare.rule_of("pnnx", converted.arithmetic_changed))
