"""Entries that no trial in any cell can meet, each with why."""

from __future__ import annotations

import pytest
from expectation_tables import CELLS, cell, entry, load

from orchestrator.expectations.reach import unreachable
from suites.registry import CaseInfo


def case(**fields) -> CaseInfo:
    known = {"needs": (), "targets": ("pnnx",), "devices": ("cpu",), "limit": 60.0}
    known |= {"suite": "functional", "file": "functional/x.py", "line": 1} | fields
    return CaseInfo(name="F_relu", **known)


def whys(tmp_path, case, *entries, cells=CELLS):
    return [
        why for _, why in unreachable(load(tmp_path, *entries), cells.values(), {"F_relu": case})
    ]


@pytest.mark.parametrize(
    ("when", "met"),
    [
        ("always", True),
        ("torch<2", False),
        ("torch>2.12,<2.12", False),
        ("torch>=2.14 and transformers<5", False),
        ("platform==win32", True),  # who knows where it will be run
        ("mkl==SSE4_2", True),
        ("mkl==AVX2", False),
        ("device==cpu", True),
        ("device==cuda", False),
        ("export==strict", True),
    ],
)
def test_when(tmp_path, when, met):
    found = whys(tmp_path, case(), entry(when=when))
    assert found == ([] if met else [f"`{when}` holds in no cell that can run F_relu: old, new"])


def test_what_the_case_does_not_have(tmp_path):
    assert whys(tmp_path, case(), entry(target="ncnn")) == ["F_relu has no target ncnn"]
    assert whys(tmp_path, case(devices=("cpu", "cuda")), entry(when="device==cuda")) == []
    both = [entry(when="export==strict"), entry(when="export==strict", frontend="ts")]
    assert len(whys(tmp_path, case(), *both)) == 1  # tracing knows one way only


def test_only_cells_that_can_run_the_case_count(tmp_path):
    new = case(needs=("transformers>=5",))
    assert whys(tmp_path, new, entry(when="torch<2.13")) == [
        "`torch<2.13` holds in no cell that can run F_relu: new"
    ]
    assert whys(tmp_path, case(needs=("torchvision",)), entry()) == [
        "no cell of envs/ can run F_relu"
    ]
    native = {"avx": cell("avx", "torch==1.9", MKL_ENABLE_INSTRUCTIONS="AVX2")}
    assert whys(tmp_path, case(), entry(when="mkl==AVX2"), cells=native) == []
