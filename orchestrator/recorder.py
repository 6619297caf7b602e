"""Keeps what a run's driver tells: the journal, run.json, and what the user sees."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence

from orchestrator.cells import Cell
from orchestrator.expectations import Facts, Table, judge
from orchestrator.journal import Journal
from orchestrator.progress import Progress
from orchestrator.record import CellRecord, Loss
from orchestrator.report.headline import count
from orchestrator.runs import Run
from suites.trial import Result, Trial


class Recorder:
    """Listens to a driver. A result counts from when its line is on the disk."""

    def __init__(
        self,
        run: Run,
        journal: Journal,
        table: Table,
        progress: Progress,
        cells: Mapping[str, Cell],
    ) -> None:
        self._run = run
        self._journal = journal
        self._table = table
        self._progress = progress
        self._cells = cells
        self.results = 0
        self.ready: float | None = None
        """When the first runner was ready, by `time.monotonic()`."""

    def cell(self, name: str, found: CellRecord) -> None:
        if self.ready is None:
            self.ready = time.monotonic()
            self._progress.begin()
        record = self._run.record
        earlier = [loss for loss in record.lost if loss.cell == name and loss.trial is None]
        if earlier or record.cells.get(name) != found:
            record.lost = [loss for loss in record.lost if loss not in earlier]
            record.cells[name] = found
            self._run.save()

    def result(self, result: Result) -> None:
        name = result.trial.cell
        if name not in self._run.record.cells:
            self.cell(name, _as_pinned(self._cells[name]))
        self._journal.add(result)
        self.results += 1
        facts = Facts.found(self._run.record.cells[name])
        self._progress.add(result, judge(result, self._table.match(result.trial, facts)))

    def lost(self, trial: Trial, reason: str) -> None:
        self._lose(Loss(cell=trial.cell, device=trial.device, reason=reason, trial=trial), [trial])
        self._progress.line(f"no result for {trial}: {reason}")

    def lost_cell(self, cell: str, device: str, trials: Sequence[Trial], reason: str) -> None:
        self._lose(Loss(cell=cell, device=device, reason=reason), trials)
        self._progress.line(f"no result for {count(len(trials), 'trial')} in {cell}: {reason}")

    def _lose(self, loss: Loss, trials: Sequence[Trial]) -> None:
        self._run.record.lose(loss)
        self._run.save()
        self._progress.drop(trials)

    def note(self, text: str) -> None:
        self._progress.line(text)

    def tick(self) -> None:
        self._progress.tick()


def _as_pinned(cell: Cell) -> CellRecord:
    """A cell in which no runner was started, as all its trials were skipped: what its file says."""
    packages = {name: str(version) for name, version in cell.versions.items()}
    return CellRecord(python="", platform=sys.platform, packages=packages, env=dict(cell.env))
