"""The command line: each mistake is one line and exit status 2, before anything is run."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from live import CELL
from packaging.requirements import Requirement

from orchestrator import runs
from orchestrator.cells import Cell, CellError, load_cells
from orchestrator.cli import main
from orchestrator.commands import options
from orchestrator.commands.doctor import Finding, fault

TRIAL = ["--cell", CELL, "-k", "F_relu6"]


@pytest.fixture(autouse=True)
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(runs, "RESULTS", tmp_path / "results")
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    return tmp_path / "results"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["rum"], "invalid choice: 'rum'"),
        (["run"], f"no cell is named; give --cell; there are: .*{CELL}"),
        (["run", "--cell", "torch213-tf6"], f"unknown cell 'torch213-tf6'; did you mean .*{CELL}"),
        (
            ["run", *TRIAL, "--suite", "function"],
            "unknown suite 'function'; did you mean functional",
        ),
        (
            ["run", *TRIAL, "--fronted", "ts"],
            "unknown argument '--fronted'; did you mean --frontend",
        ),
        (["run", *TRIAL, "--cel=x"], "unknown argument '--cel=x'; did you mean --cell"),
        (["run", *TRIAL, "extra"], "unknown argument 'extra'"),
        (["run", *TRIAL, "--frontend", "onnx"], "--frontend: invalid choice: 'onnx'"),
        (["run", *TRIAL, "--target", "tflite"], "--target: invalid choice: 'tflite'"),
        (["run", *TRIAL, "--device", "tpu"], "--device: invalid choice: 'tpu'"),
        (["run", *TRIAL, "--export", "script"], "--export: invalid choice: 'script'"),
        (["run", *TRIAL, "--workers", "0"], "--workers: '0' is not a whole number above 0"),
        (["run", *TRIAL, "--limit", "-1"], "--limit: '-1' is not a number above 0"),
        (["run", *TRIAL, "--limit", "inf"], "--limit: 'inf' is not a number above 0"),
        (["run", *TRIAL, "--limit", "soon"], "--limit: 'soon' is not a number above 0"),
        (["run", "--cell", CELL, "-k", "F_relu7"], "matches no case; did you mean F_relu"),
        (["run", "--cell", CELL, "--case", "F_relu7"], "no such case; did you mean F_relu"),
        (["run", "--cell", CELL, "--case", "F_elu", "-k", "relu6"], "'relu6' matches no case"),
        (["run", "--cell", CELL, "-k", "(F_relu"], "a parenthesis is not closed"),
        (["run", "--cell", CELL, "-k", "resnet18"], "nothing to run in .* torchvision"),
        (["run", "--resume", "yesterday"], "no run at 'yesterday'"),
        (["run", "--resume", "yesterday", *TRIAL], "drop --cell"),
        (["run", "--resume", "yesterday", "--output", "x"], "drop --output"),
        (["run", "--resume", "yesterday", "-k", "relu"], "drop -k"),
        (["run", "--resume", "yesterday", "--every-cell"], "drop --every-cell"),
        (["list", "cells", "--cell", "torch"], "unknown cell 'torch'"),
        (["list", "everything"], "invalid choice: 'everything'"),
        (["doctor"], "the following arguments are required: CELL"),
        (["doctor", "torch213"], "unknown cell 'torch213'; did you mean"),
        (["report", "nowhere"], "nowhere: not a run"),
    ],
)
def test_mistake(
    words: list[str], says: str, capsys: pytest.CaptureFixture[str], results: Path
) -> None:
    assert main(words) == 2
    printed, error = capsys.readouterr()
    assert printed == ""
    assert re.match(f"pnnx-parity: .*{says}", error), error
    assert error.count("\n") == 1
    assert not results.exists()


def test_cell_that_is_not_built(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], results: Path
) -> None:
    def missing(self: Cell) -> Path:
        raise CellError(f"cell {self.name} is not built")

    monkeypatch.setattr(Cell, "python_path", missing)
    assert main(["run", *TRIAL]) == 2
    assert "is not built" in capsys.readouterr().err
    assert not results.exists()


def test_broken_table(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    results: Path,
) -> None:
    (tmp_path / "x.toml").write_text('[[expect]]\ncase = "F_relu7"\n')
    monkeypatch.setattr(options, "EXPECTATIONS", tmp_path)
    assert main(["run", *TRIAL]) == 2
    assert f"{tmp_path / 'x.toml'}:1: " in capsys.readouterr().err
    assert not results.exists()


def test_no_cluster_at_the_address(capsys: pytest.CaptureFixture[str], results: Path) -> None:
    """Nothing was run: no folder is left."""
    assert main(["run", *TRIAL, "--address", "127.0.0.1:1"]) == 2
    error = capsys.readouterr().err
    assert "no Ray cluster at '127.0.0.1:1'" in error
    assert not list(results.glob("*"))


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["cells"], f"{CELL}: torch 2.13 with transformers 5"),
        (["suites"], "functional: 74 cases"),
        (["cases", "-k", "F_relu6"], "F_relu6: functional, to pnnx"),
        (["trials", *TRIAL, "--frontend", "pt2"], f"{CELL}/F_relu6/pt2/pnnx/cpu"),
    ],
)
def test_list(words: list[str], line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", *words]) == 0
    assert any(printed.startswith(line) for printed in capsys.readouterr().out.splitlines())


def test_list_into_a_closed_pipe() -> None:
    listing = [sys.executable, "-m", "orchestrator.cli", "list"]
    with subprocess.Popen(listing, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.wait(30) == 3
        assert process.stderr.read() == b""


def test_signs_that_a_terminal_lacks_are_written_out() -> None:
    words = [sys.executable, "-m", "orchestrator.cli", "run", "--cell", "\u2192\udcff\x1b[31m"]
    ascii_only = os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "1"}
    done = subprocess.run(words, capture_output=True, timeout=60, env=ascii_only, check=False)
    assert done.returncode == 2
    assert done.stdout == b""
    assert done.stderr.startswith(rb"pnnx-parity: unknown cell '\u2192\udcff\x1b[31m'")


def test_a_console_of_windows() -> None:
    """It has neither arrows nor check marks, where Python is not told of UTF-8."""
    words = [sys.executable, "-m", "orchestrator.cli", "run", "--cell", "\u2192 \u2713 \xe9"]
    western = os.environ | {"PYTHONIOENCODING": "cp1252:strict"}
    done = subprocess.run(words, capture_output=True, timeout=60, env=western, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith(b"pnnx-parity: unknown cell '\\u2192 \\u2713 \xe9'")


def test_doctor_finds_the_cell_well(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", CELL]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines[1:]] == [
        ["ok", "torch"],
        ["ok", "transformers"],
        ["ok", "pnnx"],
        ["ok", "ncnn"],
        ["ok", "runner,"],
    ]


def test_doctor_imports_in_the_cells_python(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A cell whose Python has none of it: the orchestrator's own has no torch."""
    monkeypatch.setattr(Cell, "python_path", lambda self: Path(sys.executable))
    assert main(["doctor", CELL]) == 2
    broken = [line for line in capsys.readouterr().out.splitlines() if "broken" in line]
    assert len(broken) == 4
    assert "broken  torch: not installed" in broken[0]
    assert f'nox -s "env({CELL})"' in broken[0]


@pytest.mark.parametrize(
    ("package", "found", "says"),
    [
        ("torchvision", Finding("0.28.0", ""), ""),
        ("torchvision", Finding("0.27.0", ""), "the cell pins torchvision===0.28.0; rebuild"),
        ("torchvision", Finding("", "PackageNotFoundError"), "not installed"),
        (
            "torchvision",
            Finding("0.28.0", "RuntimeError: operator torchvision::nms does not exist"),
            "nms does not exist; it was not built for torch 2.13.0: torch, torchvision, torchaudio"
            " must come from one index as one release",
        ),
        ("transformers", Finding("5.16.1", "ImportError: x"), "ImportError: x; rebuild the cell"),
    ],
)
def test_doctor_says_the_mend(package: str, found: Finding, says: str) -> None:
    cell = load_cells()["torch213-av"]
    pin = next(pin for pin in map(Requirement, cell.pins) if pin.name == package)
    said = fault(cell, pin, {"torch": Finding("2.13.0", ""), package: found})
    assert says in said
    assert bool(said) == bool(says)


def test_cells_for_a_workflow(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "cells", "--json"]) == 0
    (line,) = capsys.readouterr().out.splitlines()  # as a job's output has it
    cells = {cell["name"]: cell for cell in json.loads(line)}
    assert set(cells) == set(load_cells())
    assert cells["torch214-py312"]["python"] == "3.12"
    assert cells["torch213-mkl-avx2-threads"]["environment"] == "torch213-av"
    assert cells["torch213-tf5"]["python"] == "3.11"
    assert "torch==2.13.0" in cells["torch213-tf5"]["pins"]
    assert main(["list", "suites", "--json"]) == 2
    assert "--json is of cells" in capsys.readouterr().err
