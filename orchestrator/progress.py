"""How far a run is: a bar in a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Protocol

from orchestrator.expectations import Judgement
from orchestrator.plan import Planned
from orchestrator.report.text import first_line, visible
from suites.trial import Result, Trial

EVERY = 10.0
"""Seconds between two plain lines."""


class Screen(Protocol):
    """Shows counts as they change, and lines that stay."""

    def show(self, done: int, failing: int, left: float | None) -> None: ...

    def line(self, text: str) -> None: ...

    def close(self) -> None: ...


class Progress(AbstractContextManager["Progress"]):
    """Counts trials and judges the time left by what each was thought to take."""

    def __init__(self, plan: Iterable[Planned]) -> None:
        self._weights: Mapping[Trial, float] = {
            trial: each.seconds / len(each.trials) for each in plan for trial in each.trials
        }
        self._done = 0
        self._failing = 0
        self._ahead = sum(self._weights.values())
        self._behind = 0.0
        self._since = time.monotonic()
        total = len(self._weights)
        self._screen: Screen = Bar(total) if sys.stdout.isatty() else Lines(total)

    def begin(self) -> None:
        """The first runner is ready: from here on time tells of trials."""
        if not self._done:
            self._since = time.monotonic()

    def add(self, result: Result, judgement: Judgement) -> None:
        weight = self._weights[result.trial]
        self._ahead -= weight
        self._behind += weight
        self._done += 1
        if not judgement.verdict.green:
            self._failing += 1
            said = (judgement.why, first_line(visible(result.diagnostic)))
            self.line(f"{judgement.verdict} {result.trial}: {': '.join(filter(None, said))}")
        self.tick()

    def drop(self, trials: Iterable[Trial]) -> None:
        """Trials are given up: no time goes into them any more."""
        self._ahead -= sum(self._weights[trial] for trial in trials)

    def line(self, text: str) -> None:
        """Show a line that stays."""
        self._screen.line(text)

    def tick(self) -> None:
        elapsed = time.monotonic() - self._since
        left = elapsed / self._behind * self._ahead if self._behind else None
        self._screen.show(self._done, self._failing, left)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._screen.close()


class Bar:
    """A line that rich keeps at the bottom of the terminal."""

    def __init__(self, total: int) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
        from rich.progress import Progress as RichProgress

        self._progress = RichProgress(
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[failing]} failing"),
            TextColumn("{task.fields[left]}"),
            refresh_per_second=4,
        )
        self._task = self._progress.add_task("", total=total, failing=0, left="starting")
        self._progress.start()

    def show(self, done: int, failing: int, left: float | None) -> None:
        self._progress.update(self._task, completed=done, failing=failing, left=_left(left))

    def line(self, text: str) -> None:
        self._progress.console.print(
            text, markup=False, highlight=False, emoji=False, soft_wrap=True
        )

    def close(self) -> None:
        self._progress.stop()


class Lines:
    """A line every few seconds, and one at the end."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._last = time.monotonic()
        self._text = ""

    def show(self, done: int, failing: int, left: float | None) -> None:
        self._text = f"{done} of {self._total} done, {failing} failing, {_left(left)}"
        if time.monotonic() - self._last >= EVERY:
            self._last = time.monotonic()
            self.line(self._text)

    def line(self, text: str) -> None:
        print(text, flush=True)

    def close(self) -> None:
        if self._text:
            self.line(self._text)


def _left(seconds: float | None) -> str:
    if seconds is None:
        return "starting"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02} s left" if minutes else f"{rest} s left"
