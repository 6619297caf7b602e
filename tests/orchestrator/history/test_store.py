"""The history's file: what was added is there once, writers wait for each other, damage is told."""

from __future__ import annotations

import datetime
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from orchestrator.history import History, HistoryError, Key, Past, PastRun, attempt, store
from orchestrator.record import CellRecord, RunRecord
from suites.trial import Outcome, Result, Stage, Trial

START = datetime.datetime(2026, 11, 1, 6, tzinfo=datetime.UTC)
TRIAL = Trial("F_relu", "a", "pt2", "pnnx")


def record(day: int = 0, name: str = "run", platform: str = "linux") -> RunRecord:
    found = CellRecord(python="3.11.7", platform=platform, packages={"torch": "2.13.0"})
    started = START + datetime.timedelta(days=day)
    return RunRecord(run=name, started=started, cpu="A", commit="c0", plan=[], cells={"a": found})


def result(trial: Trial = TRIAL, seconds: float = 1.0, diagnostic: str = "") -> Result:
    return Result(
        trial=trial,
        outcome=Outcome.failed if diagnostic else Outcome.passed,
        stage=Stage.export if diagnostic else None,
        diagnostic=diagnostic,
        seconds={"build": seconds / 2, "export": seconds / 2},
    )


def add(file: Path, day: int, *results: Result, name: str = "run") -> None:
    verdicts = {each.trial: "ok" for each in results}
    with History(file) as history:
        history.add(record(day, name), results, verdicts)


def test_what_was_added_is_there(tmp_path):
    file = tmp_path / "history.sqlite"
    strict = Trial("F_elu", "b", "pt2", "ncnn", "cuda", "strict")
    said = "one\nnul \0, lone \ud800, \N{GREEK SMALL LETTER ALPHA}"
    add(file, 0, result(), result(strict, 2.0, said))
    with History(file) as history:
        past = history.past()
        (relu,), (elu,) = history.of_case("F_relu"), history.of_case("F_elu")
    run = PastRun(START, "run", "A")
    assert list(past.runs) == [run]
    came = past.runs[run][Key(strict, "")]  # no runner came up in cell b
    assert came[1:3] == (Outcome.failed, Stage.export)
    assert (
        came.diagnostic
        == elu.came.diagnostic
        == said.replace("\0", r"\x00").replace("\ud800", r"\ud800")
    )
    assert came.seconds == 2.0
    assert (relu.key, relu.commit, relu.verdict) == (Key(TRIAL, "linux"), "c0", "ok")
    assert relu.packages == {"torch": "2.13.0"}
    assert past.before(PastRun(START + datetime.timedelta(days=1), "x", ""), Key(TRIAL, "linux"))
    assert not past.before(run, Key(TRIAL, "linux"))


def test_a_resumed_run_replaces_itself(tmp_path):
    file = tmp_path / "history.sqlite"
    other = Trial("F_elu", "a", "pt2", "pnnx")
    add(file, 1, result(seconds=5.0))
    add(file, 0, result(seconds=3.0))
    add(file, 1, result(seconds=7.0), result(other))
    with History(file) as history:
        runs = history.past().runs
    assert [[came.seconds for came in run.values()] for run in runs.values()] == [[3.0], [1.0, 7.0]]


def test_the_past_ends_where_it_is_enough(tmp_path):
    file = tmp_path / "history.sqlite"
    for day in range(5):
        add(file, day, result(), result(Trial("F_elu", "a", "pt2", "pnnx")))
    with History(file) as history:
        assert [run.started.day for run in history.past(3).runs] == [4, 5]


WRITER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from test_store import add, result
for day in range(8):
    add(Path(sys.argv[2]), day, result(), name=sys.argv[3])
"""


def test_writers_wait_for_each_other(tmp_path):
    """Also for the one who makes the file."""
    here = str(Path(__file__).parent)
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, here, str(tmp_path / "history.sqlite"), str(number)],
            stderr=subprocess.PIPE,
        )
        for number in range(5)
    ]
    for writer in writers:
        _, error = writer.communicate(timeout=60)
        assert writer.returncode == 0, error
    with History(tmp_path / "history.sqlite") as history:
        assert len(history.past().runs) == 40


def test_a_new_file_is_waited_for_while_another_writes_to_it(tmp_path):
    file = tmp_path / "history.sqlite"
    other = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")  # as one who is a moment ahead
    ahead = threading.Timer(0.3, other.close)
    ahead.start()
    add(file, 0, result())
    ahead.join()


def test_diagnostics_are_kept_as_far_as_they_are_known_by(tmp_path):
    add(tmp_path / "history.sqlite", 0, result(diagnostic="x" * 1_000_000))
    assert (tmp_path / "history.sqlite").stat().st_size < 100_000


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE trials SET outcome = 'x'",
        "UPDATE trials SET stage = 'x'",
        "UPDATE trials SET seconds = 'x'",
        "UPDATE runs SET started = 'x'",
        "UPDATE cells SET packages = '['",
    ],
)
def test_values_of_no_meaning_are_damage(tmp_path, damage):
    file = tmp_path / "history.sqlite"
    add(file, 0, result())
    with sqlite3.connect(file) as db:
        db.execute(damage)
    db.close()
    warnings: list[str] = []
    read = (lambda history: history.of_case("F_relu")) if "cells" in damage else History.past
    attempt(file, read, None, warnings.append)
    (warning,) = warnings
    assert "is damaged (a value that nobody wrote" in warning


def test_words_of_sqlite_that_are_no_text_are_damage(tmp_path):
    """It quotes the schema's SQL, in which garbage may stand."""
    file = tmp_path / "history.sqlite"
    add(file, 0, result())
    file.write_bytes(file.read_bytes().replace(b"CREATE TABLE cells", b"\xf3REATE TABLE cells"))
    warnings: list[str] = []
    attempt(file, lambda history: history.check(), None, warnings.append)
    (warning,) = warnings
    assert "is damaged" in warning


def test_half_a_run_is_never_there(tmp_path):
    file = tmp_path / "history.sqlite"
    add(file, 0, result(seconds=3.0))
    with History(file) as history, pytest.raises(sqlite3.IntegrityError):
        history.add(record(), [result(), result()], {TRIAL: "ok"})
    with History(file) as history:
        assert [came.seconds for run in history.past().runs.values() for came in run.values()] == [
            3
        ]


@pytest.mark.parametrize(
    ("statement", "says"),
    [
        ("PRAGMA user_version = 99", "is of version 99, and this program reads 1"),
        ("PRAGMA application_id = 7", "is another program's"),
    ],
)
def test_a_file_of_others_is_refused_and_left(tmp_path, statement, says):
    file = tmp_path / "history.sqlite"
    add(file, 0, result())
    with sqlite3.connect(file) as db:
        db.execute(statement)
    db.close()
    with pytest.raises(HistoryError, match=f"{says}; move it away"):
        History(file)
    warnings: list[str] = []
    assert attempt(file, History.past, None, warnings.append) is None
    assert says in warnings[0]
    assert [path.name for path in tmp_path.iterdir() if "damaged" in path.name] == []


def garbage(data: bytes) -> bytes:
    return b"not a database at all" * 1000


def header(data: bytes) -> bytes:
    return b"x" + data[1:]


def inside(data: bytes) -> bytes:
    """Every page but the first, which has the tables' names."""
    return data[:4096] + b"\xff" * (len(data) - 4096)


def cut(data: bytes) -> bytes:
    return data[: len(data) // 2]


@pytest.mark.parametrize("damage", [garbage, header, inside, cut])
def test_damage_is_moved_aside(tmp_path, damage):
    file = tmp_path / "history.sqlite"
    for day in range(3):
        add(file, day, result(), *(result(Trial(f"F_{n}", "a", "ts", "pnnx")) for n in range(200)))
    broken = damage(file.read_bytes())
    file.write_bytes(broken)
    warnings: list[str] = []
    past = attempt(file, History.past, Past(), warnings.append)
    assert list(past.runs) == []
    (warning,) = warnings
    assert "is damaged" in warning
    assert "moved to history.sqlite.damaged-1" in warning
    assert "pnnx-parity history --rebuild" in warning
    assert file.with_name("history.sqlite.damaged-1").read_bytes() == broken
    add(file, 0, result())
    with History(file) as history:
        assert len(history.past().runs) == 1


def test_a_file_that_stays_locked_fails_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "WAIT", 0.1)
    file = tmp_path / "history.sqlite"
    add(file, 0, result())
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    warnings: list[str] = []
    attempt(file, lambda h: h.add(record(1), [result()], {TRIAL: "ok"}), None, warnings.append)
    assert "database is locked; going on without the history" in warnings[0]
    assert len(attempt(file, History.past, Past(), warnings.append).runs) == 1  # reading goes on
    other.close()


def test_a_folder_that_is_not_there_fails_nothing(tmp_path):
    warnings: list[str] = []
    attempt(tmp_path / "none" / "history.sqlite", History.past, None, warnings.append)
    assert "unable to open database file" in warnings[0]


def test_a_trial_is_taken_for_its_median_time(tmp_path):
    file = tmp_path / "history.sqlite"
    for day, seconds in enumerate((50.0, *(1.0 + n for n in range(10)))):  # the first is too old
        add(file, day, result(seconds=seconds))
    with History(file) as history:
        assert history.past().seconds() == {"a/F_relu/pt2/pnnx/cpu": 5.5}
