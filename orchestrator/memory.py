"""The history of the runs in `results/`, kept beside them; nothing fails for want of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from orchestrator import runs
from orchestrator.errors import UsageError
from orchestrator.expectations import Facts, Table, TableError, Verdict, audit
from orchestrator.history import FILE, History, Past, attempt
from orchestrator.prepush import index
from orchestrator.report.merge import RunError, RunFolder, is_beside, read_run
from orchestrator.spelling import command
from suites.trial import Trial

Warn = Callable[[str], None]


def file() -> Path:
    return runs.RESULTS / FILE


def folders() -> list[Path]:
    """The runs in `results/`, and what is damaged or foreign there: all that `results/*` names."""
    return sorted(
        path
        for path in runs.RESULTS.glob("*")
        if not path.name.startswith(".") and not is_beside(path)
    )


def recall(warn: Warn) -> Past:
    """What the history has to compare with; nothing where there is none."""
    return attempt(file(), History.past, Past(), warn) if file().exists() else Past()


def keep(folder: Path, table: Table, warn: Warn) -> None:
    """Add a run to the history, if it is one of `results/`: what `rebuild` would find."""
    if folder.resolve().parent != runs.RESULTS.resolve():
        return
    is_new, others = not file().exists(), len(folders()) - 1
    run = read_run(folder)
    attempt(file(), lambda history: _add(history, run, table), None, warn)
    index.add(runs.RESULTS, [run], warn)
    if is_new and others:
        warn(f"{file()} begins with this run; for {others} more: {command('history', '--rebuild')}")


def rebuild(table: Table, warn: Warn) -> list[tuple[Path, UsageError | None]] | None:
    """Add every run of `results/` anew; return their folders, and why some were left out.

    What the history has of runs whose folders are gone stays. None where it cannot be written.
    """

    def add_all(history: History) -> list[tuple[Path, UsageError | None]]:
        history.check()
        return [(folder, _try_add(history, folder, table, warn)) for folder in folders()]

    return attempt(file(), add_all, None, warn)


def _try_add(history: History, folder: Path, table: Table, warn: Warn) -> UsageError | None:
    try:
        run = read_run(folder)
        _add(history, run, table)
        index.add(runs.RESULTS, [run], warn)
    except (RunError, TableError) as error:
        return error
    return None


def _add(history: History, run: RunFolder, table: Table) -> None:
    history.add(run.record, run.results, _verdicts(run, table))


def _verdicts(run: RunFolder, table: Table) -> dict[Trial, Verdict]:
    facts = {result.trial.cell: Facts({}) for result in run.results}  # where no runner came up
    facts |= {name: Facts.found(cell) for name, cell in run.record.cells.items()}
    judgements = audit(run.results, table, facts)
    return {
        result.trial: judgement.verdict
        for result, judgement in zip(run.results, judgements, strict=True)
    }
