"""The history of the runs in `results/`, kept beside them; nothing fails for want of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
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


def keep(added: Iterable[Path], table: Table, warn: Warn) -> None:
    """Add runs to the history, as far as they are in `results/`: what `rebuild` would find."""
    own = [folder for folder in added if folder.resolve().parent == runs.RESULTS.resolve()]
    if not own:
        return
    is_new = not file().exists()
    found = [read_run(folder) for folder in own]

    def add_all(history: History) -> None:
        for run in found:
            _add(history, run, table)

    attempt(file(), add_all, None, warn)
    index.add(runs.RESULTS, found, warn)
    kept = {folder.resolve() for folder in own}
    others = [folder for folder in folders() if is_new and folder.resolve() not in kept]
    if number := sum(map(_is_run, others)):
        warn(f"{file()} begins with this run; for {number} more: {command('history', '--rebuild')}")


def _is_run(folder: Path) -> bool:
    try:
        read_run(folder)
    except RunError:
        return False
    return True


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
