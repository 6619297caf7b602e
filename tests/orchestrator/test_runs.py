"""Run folders: made, reopened and discarded."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from orchestrator import runs
from orchestrator.cli import parser
from orchestrator.commands.options import Known
from orchestrator.commands.run import _resume as resume
from orchestrator.errors import UsageError
from orchestrator.journal import Journal
from suites.trial import Outcome, Result, Trial

PLAN = [Trial(name, "cell", frontend, "pnnx") for name in ("a", "b") for frontend in ("ts", "pt2")]


def result(trial: Trial, seconds: float) -> Result:
    return Result(trial=trial, outcome=Outcome.passed, seconds={"build": seconds})


def record(run: runs.Run, *results: Result) -> None:
    with Journal(run.journal) as journal:
        for each in results:
            journal.add(each)


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(runs, "RESULTS", tmp_path / "results")
    return tmp_path / "results"


def test_reopened(results: Path) -> None:
    run = runs.create(None, ["run"], PLAN)
    assert run.folder.parent == results
    record(run, result(PLAN[2], 1))
    for name in (str(run.folder), run.folder.name):
        again = runs.reopen(name)
        assert again.record == run.record
        assert again.missing() == [PLAN[0], PLAN[1], PLAN[3]]


def test_two_at_one_time(results: Path) -> None:
    folders = {runs.create(None, [], PLAN).folder for _ in range(3)}
    assert len(folders) == 3


def test_the_latest(results: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no run in .* yet"):
        runs.find("latest")
    made = [runs.create(None, [], PLAN).folder for _ in range(3)]
    assert runs.find("latest") == runs.located("latest") == made[-1]
    old = runs.create(results / "zzz", [], PLAN)
    old.record.started = old.record.started.replace(year=2020)
    old.save()
    (made[-1] / "run.json").write_text("torn")
    assert runs.find("latest") == made[-2]
    monkeypatch.chdir(tmp_path)
    mine = runs.create(Path("latest"), [], PLAN)
    assert runs.find("latest") == mine.folder


def test_where_a_run_is(results: Path) -> None:
    folder = runs.create(None, [], PLAN).folder
    assert runs.located(folder.name) == runs.located(str(folder)) == folder
    assert runs.located("nowhere") == Path("nowhere")
    with pytest.raises(UsageError, match=r"no run at 'lates'.*did you mean latest"):
        runs.find("lates")


def test_output_is_not_overwritten(tmp_path: Path) -> None:
    runs.create(tmp_path / "mine", [], PLAN)
    with pytest.raises(UsageError, match="mine holds a run already; give another --output"):
        runs.create(tmp_path / "mine", [], PLAN)
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match=r"file/x: Not a directory; give another folder"):
        runs.create(tmp_path / "file" / "x", [], PLAN)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (None, "no run at"),
        ("{", "not a run's record"),
        ("{}", "not a run's record"),
        ('{"format":99,"run":"x","started":"2026-01-01T00:00:00Z","plan":[]}', "of format 99"),
    ],
)
def test_not_a_run(tmp_path: Path, text: str | None, says: str) -> None:
    if text is not None:
        (tmp_path / "run.json").write_text(text)
    with pytest.raises(UsageError, match=says):
        runs.reopen(str(tmp_path))


def test_results_that_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(runs, "RESULTS", tmp_path / "file" / "results")
    with pytest.raises(UsageError, match="results: Not a directory; give another folder"):
        runs.create(None, [], PLAN)


def test_discarded(tmp_path: Path) -> None:
    run = runs.create(tmp_path / "new", [], PLAN)
    run.discard()
    assert not run.folder.exists()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").touch()
    runs.create(tmp_path / "mine", [], PLAN).discard()
    assert os.listdir(tmp_path / "mine") == ["file"]


def test_a_resumed_run_keeps_the_order_of_its_plan(results: Path) -> None:
    """Whatever the history says of durations: whoever planned it had a reason."""
    names = {"F_relu": "ncnn", "F_elu": "pnnx", "F_gelu": "pnnx"}
    plan = [Trial(name, "torch213-tf5", "pt2", target) for name, target in names.items()]
    plan.append(Trial("F_relu", "torch213-tf5", "pt2", "pnnx"))
    made = runs.create(None, ["run"], plan)
    record(made, result(plan[1], 1))
    words = ["run", "--resume", str(made.folder), "--address", "nowhere:1"]  # no cell need be here
    args = parser().parse_args(words)
    _, planned = resume(args, Known(), {str(plan[2]): 9.0, str(plan[0]): 1.0})
    assert [each.trials for each in planned] == [(plan[3], plan[0]), (plan[2],)]
