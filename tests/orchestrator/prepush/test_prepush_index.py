"""The index that runs leave: which cases went through which rules."""

from __future__ import annotations

import datetime
from pathlib import Path

from orchestrator.prepush import index
from orchestrator.prepush.index import Index, Way
from orchestrator.record import RunRecord
from orchestrator.report.merge import RunFolder, is_beside
from suites.trial import Outcome, Result, Trial

RELU = Way("F_relu", "pnnx", "plain")


def run(day: int, **rules: str) -> RunFolder:
    """A run of pt2 trials, and of one through the other frontend, which has no rules."""
    results = [
        Result(trial=Trial(case, cell, "pt2", "pnnx"), outcome=Outcome.passed, rules=(one,))
        for case, words in rules.items()
        for cell, one in zip(("a", "b"), words.split(), strict=False)
    ]
    results.append(Result(trial=Trial("F_relu", "a", "ts", "pnnx"), outcome=Outcome.passed))
    started = datetime.datetime(2026, 12, day, tzinfo=datetime.UTC)
    return RunFolder(RunRecord(run=f"r{day}", started=started, plan=[]), results)


def test_of_each_case_the_newest_run_counts_with_all_its_cells() -> None:
    made = Index().joined([run(2, F_relu="x:a x:b", F_silu="x:c"), run(1, F_relu="x:old")])
    assert made.ways() == {"x:a": {RELU}, "x:b": {RELU}, "x:c": {Way("F_silu", "pnnx", "plain")}}
    assert set(made.joined([run(3, F_relu="x:new")]).ways()) == {"x:new", "x:c"}


def test_a_run_that_converted_nothing_changes_nothing() -> None:
    made = Index().joined([run(2, F_relu="x:a")])
    assert made.joined([run(3)]) == made


def test_it_lies_beside_the_runs_and_is_kept(tmp_path: Path) -> None:
    said: list[str] = []
    index.add(tmp_path, [run(1, F_relu="x:a")], said.append)
    index.add(tmp_path, [run(2, F_silu="x:a")], said.append)
    assert index.read(tmp_path, said.append).ways()["x:a"] == {
        RELU,
        Way("F_silu", "pnnx", "plain"),
    }
    assert is_beside(tmp_path / index.FILE)
    assert not said


def test_none_is_empty_and_a_damaged_one_is_told(tmp_path: Path) -> None:
    said: list[str] = []
    assert index.read(tmp_path, said.append) == Index()
    assert not said
    for text in ("{", '{"entries": [{"way": 3}]}', '{"entries": [], "format": 99}'):
        (tmp_path / index.FILE).write_text(text)
        assert index.read(tmp_path, said.append) == Index()
        assert "history --rebuild" in said.pop()
    index.add(tmp_path, [run(1, F_relu="x:a")], said.append)
    assert index.read(tmp_path, said.append).entries


def test_a_folder_that_cannot_be_written_fails_nothing(tmp_path: Path) -> None:
    said: list[str] = []
    index.add(tmp_path / "nowhere", [run(1, F_relu="x:a")], said.append)
    assert "going on without" in said[0]
