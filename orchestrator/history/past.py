"""Earlier results, run by run and trial by trial."""

from __future__ import annotations

import datetime
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from statistics import median
from typing import NamedTuple

from orchestrator.record import RunRecord
from suites.trial import Outcome, Result, Stage, Trial

WINDOW = 10
"""How many of a trial's results, the newest, tell what is usual of it."""

LEAST = 3
"""How many passes make a time usual."""


class PastRun(NamedTuple):
    """A run. Runs compare by time."""

    started: datetime.datetime
    name: str
    cpu: str

    @classmethod
    def of(cls, record: RunRecord) -> PastRun:
        return cls(record.started, record.run, record.cpu)


class Came(NamedTuple):
    """What a trial came to in a run."""

    run: PastRun
    outcome: Outcome
    stage: Stage | None
    diagnostic: str
    seconds: float
    """Over all stages."""

    @property
    def end(self) -> tuple[Outcome, Stage | None]:
        """How and where it ended."""
        return self.outcome, self.stage


class Key(NamedTuple):
    """A trial where it was run: a cell on another platform is another cell."""

    trial: Trial
    platform: str

    @classmethod
    def of(cls, trial: Trial, record: RunRecord) -> Key:
        cell = record.cells.get(trial.cell)
        return cls(trial, cell.platform if cell else "")  # none where no runner came up


class Past:
    """The results of some runs."""

    def __init__(self, runs: Mapping[PastRun, Mapping[Key, Came]] | None = None) -> None:
        self.runs = dict(sorted((runs or {}).items()))
        """Oldest first."""

    def joined(self, runs: Iterable[tuple[RunRecord, Sequence[Result]]]) -> Past:
        """This past with some runs more; it may have them already."""
        return Past(self.runs | {PastRun.of(record): _came(record, all) for record, all in runs})

    @cached_property
    def trials(self) -> Mapping[Key, list[Came]]:
        """The results of each trial, oldest first."""
        found: dict[Key, list[Came]] = defaultdict(list)
        for results in self.runs.values():
            for key, came in results.items():
                found[key].append(came)
        return found

    def before(self, run: PastRun, key: Key) -> list[Came]:
        """What a trial came to in the runs that were started before one, oldest first."""
        return [came for came in self.trials.get(key, ()) if came.run < run]

    def seconds(self) -> Mapping[str, float]:
        """What each trial, by its name, is to be taken for: the median of its last times."""
        return {
            str(key.trial): median(came.seconds for came in results[-WINDOW:])
            for key, results in self.trials.items()
        }


def _came(record: RunRecord, results: Iterable[Result]) -> dict[Key, Came]:
    run = PastRun.of(record)
    return {
        Key.of(each.trial, record): Came(run, each.outcome, each.stage, each.diagnostic, each.total)
        for each in results
    }


def usual(results: Iterable[Came], cpu: str) -> float | None:
    """The median time of the last passes on one kind of processor; None where they are few."""
    passes = [each for each in results if each.outcome is Outcome.passed and each.run.cpu == cpu]
    if len(passes) < LEAST:
        return None
    return median(each.seconds for each in passes[-WINDOW:])
