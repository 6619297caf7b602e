"""The history of results/: kept by runs, made anew from their folders, never in the way."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import msgspec
import pytest

sys.path.append(str(Path(__file__).parent / "report"))
from synthetic import cell, failed, passed, write_run

from orchestrator import memory, runs
from orchestrator.expectations import Expectation, Table
from orchestrator.expectations.when import When
from orchestrator.history import History
from orchestrator.prepush import index
from orchestrator.spelling import command
from suites.trial import Outcome, Stage

NOTHING = Table([])


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(runs, "RESULTS", tmp_path / "results")
    return tmp_path / "results"


def contents() -> list[tuple[str, dict[str, str]]]:
    """The runs that the history has, with the verdicts on their cases."""
    with History(memory.file()) as history:
        names = [run.name for run in history.past().runs]
        found = [*history.of_case("F_relu"), *history.of_case("F_elu")]
    return [
        (name, {each.key.trial.case: each.verdict for each in found if each.run.name == name})
        for name in names
    ]


def test_kept_and_recalled(results):
    warnings: list[str] = []
    assert memory.recall(warnings.append).runs == {}
    assert not results.exists()
    for day in range(2):
        folder = write_run(results / f"run{day}", [passed("F_relu"), failed("F_elu")], day=day)
        memory.keep([folder], NOTHING, warnings.append)
    verdicts = {"F_relu": "ok", "F_elu": "unexpected"}
    assert contents() == [("run0", verdicts), ("run1", verdicts)]
    assert [run.name for run in memory.recall(warnings.append).runs] == ["run0", "run1"]
    assert warnings == []


def test_a_run_elsewhere_is_not_kept(results, tmp_path):
    results.mkdir()
    memory.keep([write_run(tmp_path / "mine", [passed("F_relu")])], NOTHING, pytest.fail)
    assert not memory.file().exists()


def test_a_lost_history_is_made_anew(results):
    warnings: list[str] = []
    for day in range(3):
        folder = write_run(results / f"run{day}", [passed("F_relu")], day=day)
        memory.keep([folder], NOTHING, warnings.append)
    before = contents()
    for file in results.glob("history.sqlite*"):
        file.unlink()
    memory.keep([folder], NOTHING, warnings.append)
    assert len(contents()) == 1
    assert warnings == [
        f"{memory.file()} begins with this run; for 2 more: {command('history', '--rebuild')}"
    ]
    assert [error for _, error in memory.rebuild(NOTHING, pytest.fail)] == [None] * 3
    assert contents() == before


def test_rebuild_names_what_it_leaves_out_and_keeps_what_has_no_folder(results):
    for day in range(3):
        folder = write_run(results / f"run{day}", [passed("F_relu")], day=day)
        memory.keep([folder], NOTHING, pytest.fail)
    (folder / "run.json").write_text("{}")
    shutil.rmtree(results / "run0")
    done = memory.rebuild(NOTHING, pytest.fail)
    assert [(path.name, error and str(error).split(":")[0]) for path, error in done] == [
        ("run1", None),
        ("run2", str(folder / "run.json")),
    ]
    assert [name for name, _ in contents()] == ["run0", "run1", "run2"]


def test_what_is_no_run_in_results_is_named_and_the_rest_is_not(results):
    write_run(results / "run0", [passed("F_relu")])
    for name in ("report", "foreign", ".hidden"):
        (results / name).mkdir()
    (results / "report" / "report.json").write_text("{}")
    (results / "history.sqlite.damaged-1").write_text("")
    done = memory.rebuild(NOTHING, pytest.fail)
    assert [(path.name, error is None) for path, error in done] == [
        ("foreign", False),
        ("run0", True),
    ]


@pytest.mark.parametrize("first", [0, 4096])
def test_rebuild_of_a_damaged_file(results, first):
    for day in range(3):
        folder = write_run(
            results / f"run{day}", [passed(f"case_{n}") for n in range(200)], day=day
        )
        memory.keep([folder], NOTHING, pytest.fail)
    data = memory.file().read_bytes()
    memory.file().write_bytes(data[:first] + b"\xff" * (len(data) - first))
    warnings: list[str] = []
    assert len(memory.rebuild(NOTHING, warnings.append)) == 3
    assert len(warnings) == 1
    assert len(contents()) == 3


def test_verdicts_are_by_the_versions_that_the_run_found(results):
    entry = Expectation(
        case="F_relu", frontend="pt2", target="pnnx", when="torch<2.13", outcome=Outcome.failed,
        stage=Stage.convert, diagnostic="aten.foo", reason="not yet", file="t.toml", line=1,
        condition=When.parse("torch<2.13", {"torch"}),
    )  # fmt: skip
    for day, torch in enumerate(("2.12.1", "2.13.0")):
        write_run(results / torch, [failed("F_relu")], cells={"a": cell(torch)}, day=day)
    memory.rebuild(Table([entry]), pytest.fail)
    assert [verdicts["F_relu"] for _, verdicts in contents()] == ["expected", "unexpected"]


def test_the_index_for_pushes_is_kept_and_made_anew(results):
    """Of what runs in results/ converted, and of nothing else."""
    for day, rule in enumerate(("aten/old.py:relu", "aten/new.py:relu")):
        result = msgspec.structs.replace(passed("F_relu", frontend="pt2"), rules=(rule,))
        memory.keep([write_run(results / f"run{day}", [result], day=day)], NOTHING, pytest.fail)
    kept = index.read(results, pytest.fail)
    assert set(kept.ways()) == {"aten/new.py:relu"}
    (results / index.FILE).unlink()
    memory.rebuild(NOTHING, pytest.fail)
    assert index.read(results, pytest.fail) == kept
