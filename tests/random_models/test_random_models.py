"""Random models: each converts and computes what eager does, or is refused with its line."""

from __future__ import annotations

import re
from collections import Counter

import pytest
import torch
from compose import RandomModel, random_models
from hypothesis import HealthCheck, Phase, given, reject, settings
from operator_table import TABLE
from placeholders import KINDS, SUBJECTS
from trying import UNTOLD, tried

from suites.testing import Verdict


@pytest.mark.parametrize(
    ("target", "export"),
    [("pnnx", "plain"), ("pnnx", "decomposed"), ("ncnn", "plain")],
)
def test_random_models_convert(target: str, export: str, count: int, fresh: bool) -> None:
    torch.set_num_threads(1)
    found: Counter[str] = Counter()

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
        finding = tried(model, target, export)
        found[finding.kind] += 1
        if finding.kind in UNTOLD:
            reject()
        result = finding.result
        if result.verdict is Verdict.refused:
            assert re.search(r"\w+\.\w+", result.why), f"no operator is named: {result}"
            assert re.search(r"model\.py:\d+ `.+`", result.why), f"no line is told: {result}"
        else:
            assert result, str(result)

    converts()
    print(target, export, dict(found))  # -rP shows it


@pytest.mark.parametrize("family", TABLE)
def test_rows_have_a_subject_and_known_placeholders(family: str) -> None:
    for row in TABLE[family]:
        kinds = set(re.findall(r"\{\w*:(\w+)\}", row))
        assert kinds <= KINDS.keys() | SUBJECTS.keys(), row
        assert (family == "constants") != bool(kinds & SUBJECTS.keys()), row
