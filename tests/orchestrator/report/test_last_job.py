"""What the last job of a night does: it merges the cells' artifacts, with the history of the nights
before and nothing else of them, and says what somebody must look at."""

from __future__ import annotations

import json
import shutil

import pytest
from synthetic import cell, failed, passed, write_run

from orchestrator import memory, runs
from orchestrator.cells import load_cells
from orchestrator.cli import main
from orchestrator.history import History

CELLS = list(load_cells())[:3]
CASES = ("F_relu", "F_elu", "torch_topk")


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.setattr(runs, "RESULTS", tmp_path / "results")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    return tmp_path / "results"


def artifacts(results, day, *broken, cells=CELLS):
    """The runs of a night, a cell each; in some, torch_topk breaks."""
    for name in cells:
        found = [passed(case, name) for case in CASES]
        if name in broken:
            found[-1] = failed("torch_topk", name, diagnostic="aten.topk.default is not converted")
        folder = results / f"nightly-{day}-{name}"
        write_run(folder, found, cells={name: cell()}, day=day)


def last_job(results, *, status):
    """Make the report; then only its history is left, as it travels on to the next night."""
    words = [f"--expect-cell={name}" for name in CELLS]
    assert main(["report", *words]) == status
    report = json.loads((results / "report" / "report.json").read_text())
    issue = results / "report" / "issue.md"
    text = issue.read_text() if issue.exists() else ""
    for folder in results.glob("nightly-*"):
        shutil.rmtree(folder)
    shutil.rmtree(results / "report")
    return report, text


def nights(results):
    with History(memory.file()) as history:
        return {run.name for run in history.past().runs}


def test_a_week(results, tmp_path, capsys):
    artifacts(results, 0)
    report, text = last_job(results, status=0)
    assert (report["changes"]["compared"], text) == (0, "")
    assert len(nights(results)) == 3

    artifacts(results, 1, CELLS[1])
    report, text = last_job(results, status=1)
    assert report["changes"]["compared"] == 9
    assert [report["rows"][each["row"]]["cell"] for each in report["changes"]["failing"]] == [
        CELLS[1]
    ]
    assert "1 unexpected" in text
    assert "<code>torch&#95;topk</code>" in text
    assert f"passed in nightly-0-{CELLS[1]}" in text
    assert "aten.topk.default is not converted" in text
    assert f"pnnx-parity run --cell {CELLS[1]} --case torch&#95;topk" in text
    assert "newly failing" in (tmp_path / "summary.md").read_text()

    artifacts(results, 2, CELLS[1], CELLS[2])
    report, text = last_job(results, status=1)
    assert len(report["changes"]["failing"]) == 1
    assert f"passed in nightly-1-{CELLS[2]}" in text
    assert f"nightly-0-{CELLS[1]}" not in text, "it did not pass the night before"

    artifacts(results, 3)
    report, text = last_job(results, status=0)
    assert len(report["changes"]["fixed"]) == 2
    assert text == ""
    assert len(nights(results)) == 12


def test_a_lost_artifact(results):
    artifacts(results, 0)
    last_job(results, status=0)
    artifacts(results, 1, cells=CELLS[:2])
    report, text = last_job(results, status=3)
    assert report["absent"] == CELLS[2:]
    assert f"cell {CELLS[2]}&#58; no run of it was given" in text
    assert "unexpected" not in text
    assert len(nights(results)) == 5


def test_a_damaged_history(results, capsys):
    """The night is reported all the same, and the next has a history again."""
    artifacts(results, 0)
    last_job(results, status=0)
    memory.file().write_bytes(b"no database" * 1000)
    artifacts(results, 1, CELLS[0])
    report, text = last_job(results, status=3)
    assert any("history.sqlite is damaged" in warning for warning in report["warnings"])
    assert "torch&#95;topk" in text
    artifacts(results, 2)
    report, text = last_job(results, status=0)
    assert (len(report["changes"]["fixed"]), text) == (1, "")


def test_a_lost_night(results):
    """Its history never arrived: the next compares with the one before."""
    artifacts(results, 0)
    last_job(results, status=0)
    saved = memory.file().read_bytes()
    artifacts(results, 1, CELLS[0])
    last_job(results, status=1)
    for file in results.glob("history.sqlite*"):
        file.unlink()
    memory.file().write_bytes(saved)
    artifacts(results, 2, CELLS[0])
    report, _ = last_job(results, status=1)
    (change,) = report["changes"]["failing"]
    assert change["run"] == f"nightly-0-{CELLS[0]}"
