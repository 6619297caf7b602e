"""The file: SQLite, in WAL mode, so that runs may write to it while others read.

A run is added in one transaction, in the place of what the file had of it. Other writers are waited
for, at most `WAIT` seconds.
"""

from __future__ import annotations

import contextlib
import datetime
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import msgspec

from orchestrator.errors import UsageError
from orchestrator.history.past import Came, Key, Past, PastRun
from orchestrator.record import CellRecord, RunRecord
from orchestrator.spelling import command
from suites.trial import Outcome, Result, Stage, Trial

FILE = "history.sqlite"

APPLICATION = 0x706E7861
"""SQLite's mark of whose file it is: `pnxa`."""

VERSION = 1
"""Of the tables below. Whoever changes them raises it: files of another version are refused."""

WAIT = 30.0
"""Seconds to wait for another writer."""

TOLD = 4096
"""Characters of a diagnostic that are kept: what it is known by. The run's folder has the whole."""

ENOUGH = 100_000
"""How many results are compared with, of the newest runs: sixty runs of 1,600 trials."""

TABLES = f"""
CREATE TABLE runs (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    started TEXT NOT NULL, -- ISO 8601, UTC, as all times
    finished TEXT,
    "commit" TEXT NOT NULL,
    cpu TEXT NOT NULL,
    results INTEGER NOT NULL,
    UNIQUE (started, name)
);
CREATE TABLE cells (
    run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    name TEXT NOT NULL,
    python TEXT NOT NULL,
    platform TEXT NOT NULL,
    packages TEXT NOT NULL, -- JSON, name to version
    env TEXT NOT NULL, -- JSON
    PRIMARY KEY (run, name)
) WITHOUT ROWID;
CREATE TABLE trials (
    "case" TEXT NOT NULL,
    run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    cell TEXT NOT NULL,
    frontend TEXT NOT NULL,
    target TEXT NOT NULL,
    device TEXT NOT NULL,
    export TEXT NOT NULL,
    outcome TEXT NOT NULL,
    stage TEXT,
    diagnostic TEXT NOT NULL,
    seconds REAL NOT NULL, -- over all stages
    verdict TEXT NOT NULL, -- by the expectation tables of the day
    PRIMARY KEY (run, "case", cell, frontend, target, device, export)
) WITHOUT ROWID;
CREATE INDEX trials_by_case ON trials ("case");
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {VERSION};
"""


class HistoryError(UsageError):
    """A history that cannot be used, with the mend."""


class Damaged(sqlite3.DatabaseError):
    """What SQLite finds when it is asked, told as it tells what it stumbles on."""

    sqlite_errorcode = sqlite3.SQLITE_CORRUPT


class Recorded(NamedTuple):
    """One result of a case, as the file has it."""

    run: PastRun
    commit: str
    key: Key
    packages: Mapping[str, str]
    """Of its cell, by name."""
    came: Came
    verdict: str


class History:
    """The open file; it is made where there is none.

    Raises HistoryError for a file of another program or version, sqlite3.DatabaseError for what
    SQLite cannot read or write.
    """

    def __init__(self, file: Path) -> None:
        self._db = sqlite3.connect(file, timeout=WAIT, isolation_level=None)
        try:
            with _as_written():
                self._use_wal()
                self._db.execute("PRAGMA foreign_keys = ON")
                if self._marks() != (APPLICATION, VERSION):
                    with self._transaction():  # in which no other makes it
                        if not self._is_ready(file):
                            self._make()
        except BaseException:
            self._db.close()
            raise

    def _use_wal(self) -> None:
        """Set the mode, which stays with the file. While another writes to a file that has it not
        yet, SQLite fails at once, whatever time it was given."""
        end = time.monotonic() + WAIT
        while True:
            try:
                self._db.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                    raise
                time.sleep(0.02)
            else:
                return

    def _marks(self) -> tuple[int, int]:
        """Whose file it is, and of which version."""
        names = ("application_id", "user_version")
        application, version = (self._db.execute(f"PRAGMA {n}").fetchone()[0] for n in names)
        return application, version

    def _is_ready(self, file: Path) -> bool:
        """Whether the tables are there; False for an empty file. Raises HistoryError."""
        application, version = self._marks()
        if (application, version) == (APPLICATION, VERSION):
            return True
        if application == APPLICATION:
            what = f"is of version {version}, and this program reads {VERSION}"
        elif self._db.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone():
            what = "is another program's"
        else:
            return False
        mend = f"move it away, then: {command('history', '--rebuild')}"
        raise HistoryError(f"{file} {what}; {mend}")

    def _make(self) -> None:
        for statement in TABLES.split(";\n"):
            self._db.execute(statement)

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def __enter__(self) -> History:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._db.close()

    def add(
        self, record: RunRecord, results: Sequence[Result], verdicts: Mapping[Trial, str]
    ) -> None:
        """Add a run, in the place of an earlier state of it."""
        with self._transaction():
            who = (record.run, _time(record.started))
            self._db.execute("DELETE FROM runs WHERE name = ? AND started = ?", who)
            self._insert("runs", [_run(record, len(results))])
            number = self._db.execute("SELECT last_insert_rowid()").fetchone()[0]
            self._insert(
                "cells", [_cell(number, name, cell) for name, cell in record.cells.items()]
            )
            self._insert("trials", [_trial(number, each, verdicts[each.trial]) for each in results])

    def _insert(self, table: str, rows: Sequence[Sequence[Any]]) -> None:
        if rows:
            places = ", ".join("?" * len(rows[0]))
            self._db.executemany(f"INSERT INTO {table} VALUES ({places})", rows)

    def check(self) -> None:
        """Read the whole file. Raises Damaged."""
        found = self._db.execute("PRAGMA quick_check(1)").fetchone()[0]
        if found != "ok":
            raise Damaged(found)

    def past(self, enough: int = ENOUGH) -> Past:
        """The newest runs: as many as have about `enough` results."""
        with _as_written():
            return self._past(enough)

    def _past(self, enough: int) -> Past:
        runs: dict[int, PastRun] = {}
        for number, started, name, cpu, count in self._db.execute(
            "SELECT id, started, name, cpu, results FROM runs ORDER BY started DESC, name DESC"
        ):
            runs[number] = PastRun(datetime.datetime.fromisoformat(started), name, cpu)
            enough -= count
            if enough <= 0:
                break
        keys = cache(lambda *trial: Key(Trial(*trial[:-1]), trial[-1]))
        return Past({run: dict(self._results(number, run, keys)) for number, run in runs.items()})

    def _results(
        self, number: int, run: PastRun, key: Callable[..., Key]
    ) -> Iterator[tuple[Key, Came]]:
        rows = self._db.execute(
            "SELECT \"case\", cell, frontend, target, device, export, coalesce(platform, ''),"
            " outcome, stage, diagnostic, seconds"
            " FROM trials LEFT JOIN cells ON cells.run = trials.run AND cells.name = trials.cell"
            " WHERE trials.run = ?",
            (number,),
        )
        for *trial, platform, outcome, stage, diagnostic, seconds in rows:
            came = Came(run, OUTCOMES[outcome], STAGES[stage], diagnostic, float(seconds))
            yield key(*trial, platform), came

    def of_case(self, case: str) -> list[Recorded]:
        """Every result of a case, oldest first."""
        rows = self._db.execute(
            'SELECT started, runs.name, cpu, "commit", cell, frontend, target, device,'
            " export, coalesce(platform, ''), packages,"
            " outcome, stage, diagnostic, seconds, verdict"
            " FROM trials JOIN runs ON runs.id = trials.run"
            " LEFT JOIN cells ON cells.run = trials.run AND cells.name = trials.cell"
            ' WHERE "case" = ? ORDER BY started, runs.name',
            (case,),
        )
        with _as_written():
            return [_recorded(case, row) for row in rows]


@contextlib.contextmanager
def _as_written() -> Iterator[None]:
    """Take values that this program writes nowhere for the damage that they are: SQLite does not
    see it. Raises Damaged."""
    try:
        yield
    except (KeyError, ValueError, msgspec.DecodeError) as error:
        raise Damaged(f"a value that nobody wrote: {error}") from None


def _run(record: RunRecord, results: int) -> tuple[Any, ...]:
    finished = _time(record.finished) if record.finished else None
    started = _time(record.started)
    return None, record.run, started, finished, record.commit, record.cpu, results


def _cell(run: int, name: str, cell: CellRecord) -> tuple[Any, ...]:
    return run, name, cell.python, cell.platform, _json(cell.packages), _json(cell.env)


def _trial(run: int, result: Result, verdict: str) -> tuple[Any, ...]:
    trial = result.trial
    path = (trial.cell, trial.frontend, trial.target, trial.device, trial.export)
    came = (str(result.outcome), result.stage and str(result.stage), _text(result.diagnostic))
    return trial.case, run, *path, *came, result.total, str(verdict)


OUTCOMES = {str(outcome): outcome for outcome in Outcome}
STAGES = {None: None} | {str(stage): stage for stage in Stage}


def _recorded(case: str, row: tuple[Any, ...]) -> Recorded:
    started, name, cpu, commit, *path, platform, packages = row[:-5]
    outcome, stage, diagnostic, seconds, verdict = row[-5:]
    run = PastRun(datetime.datetime.fromisoformat(started), name, cpu)
    came = Came(run, OUTCOMES[outcome], STAGES[stage], diagnostic, seconds)
    versions = msgspec.json.decode(packages or "{}", type=dict[str, str])
    return Recorded(run, commit, Key(Trial(case, *path), platform), versions, came, verdict)


def _time(moment: datetime.datetime) -> str:
    return moment.astimezone(datetime.UTC).isoformat()


def _json(facts: Mapping[str, str]) -> str:
    return msgspec.json.encode(facts).decode()


def _text(diagnostic: str) -> str:
    """What SQLite keeps whole: Unicode without NUL, here of bounded length."""
    return diagnostic[:TOLD].encode(errors="backslashreplace").decode().replace("\0", r"\x00")
