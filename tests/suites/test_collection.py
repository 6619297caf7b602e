"""`pytest suites` runs trials as tests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from suites.needs import lacking

ROOT = Path(__file__).parents[2]


def collected(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "suites", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=ROOT, text=True, capture_output=True, timeout=120)


def test_a_trial_runs_as_a_test():
    done = collected("-v", "-k", "F_mish", "--frontend", "ts", "--target", "pnnx")
    assert done.returncode == 0, done.stdout
    assert "suites/functional/activation.py::F_mish[ts-pnnx] PASSED" in done.stdout
    assert "1 passed" in done.stdout


def test_every_frontend_is_taken_by_default():
    done = collected("-q", "-k", "F_mish", "--collect-only", "--target", "pnnx")
    lines = [line for line in done.stdout.splitlines() if "::" in line]
    assert [line.rpartition("::")[2] for line in lines] == ["F_mish[ts-pnnx]", "F_mish[pt2-pnnx]"]


@pytest.mark.skipif(not lacking(["torchvision"]), reason="this environment has torchvision")
def test_what_the_environment_lacks_is_a_skip_with_its_reason():
    done = collected("-k", "resnet18", "--frontend", "ts", "--target", "pnnx", "-rs")
    assert done.returncode == 0
    assert "needs torchvision, which this environment lacks" in done.stdout


def test_another_frontend_is_a_usage_error():
    done = collected("--frontend", "onnx")
    assert done.returncode == 4
    assert "invalid choice: 'onnx'" in done.stderr
