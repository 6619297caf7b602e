"""What is other than the last time: each trial against its own earlier results.

A trial is compared with the newest earlier run that had it, which need not be the same for all: a
run of one case changes nothing about the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from orchestrator.history import Came, Key, Past, PastRun, usual
from orchestrator.report.merge import Newest
from orchestrator.report.model import Change, Changes, Flaky, Point, Row, Slower, what
from orchestrator.report.text import gist, pattern, visible
from suites.trial import Outcome

SLOWER = 2.0
"""How many times its usual a trial must take to be told of."""

NOTICED = 0.5
"""And how many seconds more than usual: the times of short trials are mostly noise."""

MANY = 20
"""How many trials tell of the machine's pace and not of their own."""

RECORD = 10
"""How many earlier outcomes tell whether a trial is flaky."""

SWINGS = 2
"""How often the outcome of a flaky one changed: a trial that broke, or was mended, changed once."""

POINTS = 30
"""How long a trend is."""


class Compared(NamedTuple):
    """A row with its trial's earlier results, oldest first; there is one at least."""

    number: int
    row: Row
    kind: str
    """What it came to, as `text.pattern` has it."""
    run: PastRun
    before: list[Came]

    @property
    def change(self) -> Change:
        last = self.before[-1]
        return Change(
            row=self.number,
            run=visible(last.run.name),
            what=what(*last.end),
            diagnostic=gist(visible(last.diagnostic)),
        )


def changes(
    rows: Sequence[Row], kinds: Sequence[str], newest: Sequence[Newest], past: Past
) -> Changes:
    """Compare rows, what they came to (`kinds`) and where from (`newest`), with the past."""
    compared = list(_compared(rows, kinds, newest, past))
    pairs = [
        (each, _passed(each.before[-1].outcome), _passed(each.row.outcome)) for each in compared
    ]
    pace, slower = _slower(compared)
    since = {each.before[-1].run for each in compared}
    return Changes(
        since=[visible(run.name) for run in sorted(since)],
        compared=len(compared),
        pace=pace,
        failing=[each.change for each, before, now in pairs if before and not now],
        fixed=[each.change for each, before, now in pairs if not before and now],
        reworded=[
            each.change
            for each, before, now in pairs
            if not before and not now and _kind(each.before[-1], each.row.case) != each.kind
        ],
        slower=slower,
        flaky=list(_flaky(compared)),
    )


def _compared(
    rows: Sequence[Row], kinds: Sequence[str], newest: Sequence[Newest], past: Past
) -> Iterator[Compared]:
    for number, (row, kind, (result, record)) in enumerate(zip(rows, kinds, newest, strict=True)):
        run = PastRun.of(record)
        before = past.before(run, Key.of(result.trial, record))
        if before:
            yield Compared(number, row, kind, run, before)


def _passed(outcome: Outcome) -> bool:
    return outcome is Outcome.passed


def _kind(came: Came, case: str) -> str:
    return f"{what(*came.end)}: {pattern(visible(came.diagnostic), case)}"


def _slower(compared: Sequence[Compared]) -> tuple[float, list[Slower]]:
    """The pace of all trials together, and those that were slower than that explains."""
    timed = [
        (each, time)
        for each in compared
        if _passed(each.row.outcome) and (time := usual(each.before, each.run.cpu))
    ]
    many = len(timed) >= MANY
    pace = round(median(each.row.total / time for each, time in timed), 2) if many else 1.0
    slack = max(pace, 1.0)
    found = [
        (each.row.total - time * slack, each.number, time)
        for each, time in timed
        if each.row.total > SLOWER * time * slack and each.row.total - time * slack > NOTICED
    ]
    found.sort(key=lambda loss: (-loss[0], loss[1]))
    return pace, [Slower(row=number, usual=round(time, 4)) for _, number, time in found]


def _flaky(compared: Sequence[Compared]) -> Iterator[Flaky]:
    for each in compared:
        record = [*(came.outcome for came in each.before[-RECORD:]), each.row.outcome]
        if sum(one is not other for one, other in pairwise(record)) >= SWINGS:
            yield Flaky(row=each.number, record=record)


def trend(newest: Sequence[Newest], past: Past) -> list[Point]:
    """The last runs of the trials that a report has, with the report's own, oldest first.

    A run that has few of them, such as one of a single case, is no point: at least half as many
    as the run that has the most.
    """
    keys = {Key.of(result.trial, record) for result, record in newest}
    end = max((PastRun.of(record) for _, record in newest), default=None)
    shared = {
        run: [came for key, came in results.items() if key in keys]
        for run, results in past.runs.items()
        if end is not None and run <= end
    }
    most = max(map(len, shared.values()), default=0)
    points = [_point(run, came) for run, came in shared.items() if came and len(came) * 2 >= most]
    return points[-POINTS:]


def _point(run: PastRun, results: Sequence[Came]) -> Point:
    passes = [came for came in results if _passed(came.outcome)]
    return Point(
        run=visible(run.name),
        started=run.started,
        trials=len(results),
        passed=len(passes),
        seconds=round(sum(came.seconds for came in passes), 3),
    )
