"""Random models: each converts and computes what eager does, or is refused with its line."""

from __future__ import annotations

import importlib.util
import re
import tempfile
from pathlib import Path
from types import ModuleType

import pytest
import torch
from compose import RandomModel, random_models
from hypothesis import HealthCheck, Phase, given, reject, settings
from operator_table import TABLE
from placeholders import KINDS, SUBJECTS

from suites.testing import Check, Verdict, check
from suites.trial import Stage


@pytest.mark.parametrize(
    ("target", "export"),
    [("pnnx", "plain"), ("pnnx", "decomposed"), ("ncnn", "plain")],
)
def test_random_models_convert(target: str, export: str, count: int, fresh: bool) -> None:
    torch.set_num_threads(1)

    @settings(
        max_examples=count,
        derandomize=not fresh,
        database=None,
        deadline=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(random_models(target))
    def converts(model: RandomModel) -> None:
        result = checked(model, target, export)
        if "values" in result.why and result.stage is Stage.compare and not model.steady:
            if target == "ncnn" or export == "decomposed":
                reject()  # there is no level that rounds as eager does
            result = checked(model, target, export, optlevel=1)
        if result.stage is Stage.export:
            reject()  # torch.export refuses it
        if result.verdict is Verdict.refused:
            assert re.search(r"\w+\.\w+", result.why), f"no operator is named: {result}"
            assert re.search(r"model\.py:\d+ `.+`", result.why), f"no line is told: {result}"
        else:
            assert result, str(result)

    converts()


def checked(model: RandomModel, target: str, export: str, optlevel: int = 2) -> Check:
    with tempfile.TemporaryDirectory() as folder:
        made = imported(Path(folder, "model.py"), model.source())
        return check(made.Model(), made.inputs(), target=target, export=export, optlevel=optlevel)


def imported(path: Path, source: str) -> ModuleType:
    """A model is read from a file, so that what refuses it can tell the line."""
    path.write_text(source)
    spec = importlib.util.spec_from_file_location("random_model", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("family", TABLE)
def test_rows_have_a_subject_and_known_placeholders(family: str) -> None:
    for row in TABLE[family]:
        kinds = set(re.findall(r"\{\w*:(\w+)\}", row))
        assert kinds <= KINDS.keys() | SUBJECTS.keys(), row
        assert (family == "constants") != bool(kinds & SUBJECTS.keys()), row
