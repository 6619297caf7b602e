"""Runs read and put together: the newest result of each trial, and what contradicts itself."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from orchestrator import journal
from orchestrator.errors import UsageError
from orchestrator.record import FORMAT, CellRecord, RunRecord
from orchestrator.report.text import visible
from suites.trial import DEVICES, EXPORTS, FRONTENDS, TARGETS, Result, Trial

NAME = re.compile(r"[A-Za-z0-9_.+-]+")
"""What cases and cells are called: nothing that a file format or a shell reads as more."""


class RunError(UsageError):
    """A folder that is not a whole run."""


class RunFolder(NamedTuple):
    """What a run left."""

    record: RunRecord
    results: list[Result]


class Newest(NamedTuple):
    """A trial's newest result, and the run that it is of."""

    result: Result
    run: RunRecord


class Column(NamedTuple):
    """A cell's name, and how each run found it, oldest first."""

    cell: str
    records: list[tuple[str, CellRecord]]
    """With the run's name; two runs of one name are possible."""

    @property
    def record(self) -> CellRecord | None:
        """As the newest run found it; as its file says where none started a runner in it; None
        where no runner came up."""
        records = sorted((record for _, record in self.records), key=lambda each: each.is_read)
        return records[-1] if records else None


class Merged(NamedTuple):
    """Runs as one. Trials are keyed by the label of their column: their cell's name, or
    `NAME@PLATFORM` where the runs have the cell on several platforms, which are not duplicates."""

    runs: list[RunFolder]
    """Oldest first."""
    results: dict[tuple[str, Trial], Newest]
    missing: dict[tuple[str, Trial], RunRecord]
    """Planned by some run, done by none; with the newest that planned it."""
    columns: dict[str, Column]
    """By label."""
    conflicts: list[str]
    warnings: list[str]
    """What was left out, and why: the report is incomplete."""
    absent: list[str]
    """Cells that were expected, and of which there is no run."""
    places: dict[str, Path]
    """The folders of the runs, by the names that a report gives them."""


def read_run(folder: Path) -> RunFolder:
    """Read a run's folder. Raises RunError, which names the file, for a foreign or damaged one."""
    file = folder / "run.json"
    try:
        record = msgspec.json.decode(file.read_bytes(), type=RunRecord)
        results = journal.read(folder / journal.NAME)
    except OSError as error:
        raise RunError(f"{folder}: not a run: {error.filename}: {error.strerror}") from None
    except msgspec.DecodeError as error:
        raise RunError(f"{file}: not a run's record: {error}") from None
    except journal.JournalError as error:
        raise RunError(str(error)) from None
    if record.format != FORMAT:
        raise RunError(f"{file}: of format {record.format}; this program reads {FORMAT}")
    for moment in filter(None, (record.started, record.finished)):
        if not 1970 <= moment.year < 9999:
            raise RunError(f"{file}: this program was not run in the year {moment.year}")
    for name, cell in record.cells.items():
        if not (NAME.fullmatch(name) and NAME.fullmatch(cell.platform)):
            raise RunError(f"{file}: this program has no cell {name!r} on {cell.platform!r}")
    for trial in (*record.plan, *(result.trial for result in results)):
        if not _is_known(trial):
            raise RunError(f"{folder}: this program has no trial {str(trial)!r}")
    return RunFolder(record, results)


def merge(folders: Iterable[Path], expected: Sequence[str] = ()) -> Merged:
    """Read runs and take each trial's newest result: of the run that was started last.

    What cannot be read becomes a warning. `expected` are cells that the runs ought to have.
    Raises RunError where nothing can be read, and nothing is expected either.
    """
    runs, warnings, places = [], [], {}
    for folder in dict.fromkeys(Path(os.path.realpath(folder)) for folder in folders):
        if is_beside(folder):
            continue
        try:
            run = read_run(folder)
        except RunError as error:
            warnings.append(f"left out: {error}")
        else:
            runs.append(run)
            places[visible(run.record.run)] = folder
            if run.record.plan and not os.path.exists(folder / journal.NAME):
                warnings.append(f"{folder}: {journal.NAME} is missing, and with it every result")
    if not runs and not expected:
        raise RunError("; ".join(warnings) or "no run to report; name folders under results/")
    runs.sort(key=lambda run: run.record.started)
    labels = _Labels(runs)
    results = {
        (labels.of(record, result.trial.cell), result.trial): Newest(result, record)
        for record, results in runs
        for result in results
    }
    planned = {
        (labels.of(record, trial.cell), trial): record
        for record, _ in runs
        for trial in record.plan
    }
    missing = {key: record for key, record in planned.items() if key not in results}
    columns = _columns(runs, labels)
    conflicts = list(_conflicts(columns))
    there = {column.cell for column in columns.values()}
    absent = [cell for cell in dict.fromkeys(expected) if cell not in there]
    return Merged(runs, results, missing, columns, conflicts, warnings, absent, places)


def _is_known(trial: Trial) -> bool:
    return (
        NAME.fullmatch(trial.case) is not None
        and NAME.fullmatch(trial.cell) is not None
        and trial.frontend in FRONTENDS
        and trial.target in TARGETS
        and trial.device in DEVICES
        and trial.export in EXPORTS
    )


def is_beside(path: Path) -> bool:
    """Whether it is no run but lies beside runs, for `pnnx-parity report results/*`: the history,
    the index for pushes, and merged reports. A run that lost one of its files is a damaged run."""
    has = {name: os.path.exists(path / name) for name in ("run.json", journal.NAME, "report.json")}
    merged_report = has.pop("report.json") and not any(has.values())
    return path.name.startswith(("history.sqlite", "prepush-index.json")) or merged_report


class _Labels:
    """The labels of the columns: which cells need their platform told."""

    def __init__(self, runs: Iterable[RunFolder]) -> None:
        self._platforms: dict[str, set[str]] = defaultdict(set)
        for run in runs:
            for name, cell in run.record.cells.items():
                self._platforms[name].add(cell.platform)

    def of(self, run: RunRecord, cell: str) -> str:
        if len(self._platforms[cell]) < 2:
            return cell
        return f"{cell}@{run.cells[cell].platform if cell in run.cells else 'unknown'}"


def _columns(runs: Iterable[RunFolder], labels: _Labels) -> dict[str, Column]:
    """The columns by label; of what runs say of one, the newest counts."""
    columns: dict[str, Column] = {}
    for record, _ in runs:
        for name in {trial.cell for trial in record.plan} | record.cells.keys():
            column = columns.setdefault(labels.of(record, name), Column(name, []))
            if name in record.cells:
                column.records.append((record.run, record.cells[name]))
    return dict(sorted(columns.items()))


def _conflicts(columns: Mapping[str, Column]) -> Iterator[str]:
    """What runs say differently of one column, fact by fact."""
    for label, column in columns.items():
        said = [(run, _facts(record)) for run, record in column.records if record.is_read]
        for fact in sorted({fact for _, facts in said for fact in facts}):
            runs_by_value: dict[str, list[str]] = defaultdict(list)
            for run, facts in said:
                runs_by_value[facts.get(fact, "absent")].append(run)
            if len(runs_by_value) > 1:
                words = (f"{value} in {', '.join(runs)}" for value, runs in runs_by_value.items())
                yield f"{label}: {fact} is " + "; ".join(words)


def _facts(cell: CellRecord) -> dict[str, str]:
    own = {"python": cell.python, "machine": cell.machine, "threads": str(cell.threads)}
    return own | cell.packages | cell.env
