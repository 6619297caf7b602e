"""What a night may lose: the report is written all the same, says so, and ends with status 3."""

from __future__ import annotations

import html
import json
import sqlite3

import pytest
from synthetic import passed, write_run

from orchestrator import runs
from orchestrator.cells import load_cells
from orchestrator.cli import main
from orchestrator.record import Loss, RunRecord
from suites.trial import Trial

CELL, OTHER = list(load_cells())[:2]
FORMS = ("report.md", "junit.xml", "index.html", "report.json")


@pytest.fixture
def results(tmp_path, monkeypatch):
    """Where runs and the history lie: one good run is there."""
    monkeypatch.setattr(runs, "RESULTS", tmp_path / "results")
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    write_run(tmp_path / "results" / "good", [passed("F_relu", CELL)])
    return tmp_path / "results"


def report(results, capsys, *words, status=3, rows=1):
    """Make a report; return what every form of it says, by the form's name."""
    folder = results / "report"
    assert main(["report", *words, "--output", str(folder)]) == status
    printed, error = capsys.readouterr()
    assert error == ""
    assert len(json.loads((folder / "report.json").read_text())["rows"]) == rows
    return {"terminal": printed} | {name: (folder / name).read_text() for name in FORMS}


def assert_told(said, *texts):
    for form, all_of_it in said.items():
        for text in texts:
            assert text in html.unescape(all_of_it), form


def test_a_good_night(results, capsys):
    said = report(results, capsys, "--expect-cell", CELL, status=0)
    assert "no run of it was given" not in said["terminal"]


def test_a_torn_record(results, capsys):
    bad = write_run(results / "torn", [passed("F_elu", OTHER)], day=1)
    data = (bad / "run.json").read_bytes()
    (bad / "run.json").write_bytes(data[: len(data) // 2])
    said = report(results, capsys)
    assert_told(said, "torn/run.json", "not a run")


def test_an_empty_folder(results, capsys):
    (results / "empty").mkdir()
    assert_told(report(results, capsys), "empty: not a run")


def test_a_folder_that_is_not_there(results, capsys):
    assert_told(report(results, capsys, "good", "gone"), "gone: not a run")


def test_no_results(results, capsys):
    bad = write_run(results / "bare", [passed("F_elu", OTHER)], day=1)
    (bad / "results.jsonl").unlink()
    said = report(results, capsys)
    assert_told(said, "bare: results.jsonl is missing")
    assert "1 trial without a result" in said["terminal"]


def test_a_history_of_garbage(results, capsys):
    (results / "history.sqlite").write_bytes(b"neither tables nor rows" * 100)
    assert_told(report(results, capsys), "history.sqlite is damaged")


def test_a_history_of_another_version(results, capsys):
    main(["history", "--rebuild"])
    capsys.readouterr()
    with sqlite3.connect(results / "history.sqlite") as db:
        db.execute("PRAGMA user_version = 99")
    db.close()
    assert_told(report(results, capsys), "is of version 99")


def test_a_cell_that_was_expected(results, capsys):
    said = report(results, capsys, "--expect-cell", CELL, "--expect-cell", OTHER)
    assert_told({k: said[k] for k in said if k != "report.json"}, "no run of it was given")
    assert_told(said, OTHER)
    assert json.loads(said["report.json"])["absent"] == [OTHER]


def test_nothing_is_left_of_a_night(results, capsys):
    """Without an expectation there is nothing to tell of: a usage error, as before."""
    words = ["report", str(results / "nothing")]
    assert main(words) == 2
    capsys.readouterr()
    said = report(results, capsys, "nothing", "--expect-cell", CELL, rows=0)
    assert_told(said, CELL, "nothing: not a run")
    assert json.loads(said["report.json"])["status"] == 3


def test_expected_cells_are_cells(results, capsys):
    assert main(["report", "--expect-cell", "torch-x"]) == 2
    assert "unknown cell 'torch-x'" in capsys.readouterr().err


def test_the_closest_cause_counts():
    one, two, other = (
        Trial(*words, "ts", "pnnx") for words in (("a", "x"), ("b", "x"), ("a", "y"))
    )
    record = RunRecord(run="r", started="2026-12-01T00:00:00Z", plan=[one, two, other])
    assert record.why(one) == ""
    record.stopped = "interrupted"
    record.lose(Loss(cell="x", device="cpu", reason="not built"))
    record.lose(Loss(cell="x", device="cpu", reason="its runner was killed", trial=one))
    record.lose(Loss(cell="x", device="cpu", reason="does not start"))
    assert record.why(one) == "its runner was killed"
    assert record.why(two) == "does not start"
    assert record.why(other) == "interrupted"
    record.forget({one})
    assert [loss.reason for loss in record.lost] == ["does not start"]
    record.forget({one, two})
    assert record.lost == []
