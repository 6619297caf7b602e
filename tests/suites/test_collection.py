"""`pytest suites` runs trials as tests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from suites.needs import lacking

ROOT = Path(__file__).parents[2]


def collected(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "suites", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=ROOT, text=True, capture_output=True, timeout=120)


def test_trials_run_as_tests_and_what_the_environment_lacks_is_skipped_with_its_reason():
    chosen = ("-k", "F_mish or resnet18", "--frontend", "ts", "--target", "pnnx")
    done = collected("-v", "-rs", *chosen)
    assert done.returncode == 0, done.stdout
    assert "suites/functional/activation.py::F_mish[ts-pnnx] PASSED" in done.stdout
    if lacking(["torchvision"]):
        assert "resnet18[ts-pnnx] SKIPPED" in done.stdout
        assert "needs torchvision, which this environment lacks" in done.stdout


def test_every_frontend_is_taken_by_default_and_no_deliberately_wrong_case():
    done = collected("-q", "-k", "F_mish or selfcheck", "--collect-only", "--target", "pnnx")
    lines = [line for line in done.stdout.splitlines() if "::" in line]
    assert [line.rpartition("::")[2] for line in lines] == ["F_mish[ts-pnnx]", "F_mish[pt2-pnnx]"]


def test_a_case_is_chosen_by_its_whole_name():
    chosen = ("--frontend", "pt2", "--target", "pnnx", "--collect-only")
    done = collected("-q", "--case", "F_relu", "--case", "F_elu", *chosen)
    lines = [line for line in done.stdout.splitlines() if "::" in line]
    assert {line.rpartition("::")[2] for line in lines} == {"F_relu[pt2-pnnx]", "F_elu[pt2-pnnx]"}
    done = collected("-q", "--case", "F_relu7", *chosen)
    assert done.returncode == 4
    assert "--case F_relu7: there is no such case; did you mean F_relu" in done.stderr


def test_another_frontend_is_a_usage_error():
    done = collected("--frontend", "onnx")
    assert done.returncode == 4
    assert "invalid choice: 'onnx'" in done.stderr


def test_other_exports_are_trials_of_the_pt2_frontend_alone():
    chosen = ("-k", "F_mish", "--target", "pnnx", "--export", "strict", "--export", "decomposed")
    done = collected("-q", "--collect-only", *chosen)
    lines = [line for line in done.stdout.splitlines() if "::" in line]
    assert [line.rpartition("::")[2] for line in lines] == [
        "F_mish[pt2-strict-pnnx]",
        "F_mish[pt2-decomposed-pnnx]",
    ]
