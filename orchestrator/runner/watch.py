"""Start the process of a conversion's trials, follow its reports, and see to its end."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path

import msgspec

from orchestrator.runner import child
from orchestrator.runner.link import Link
from orchestrator.runner.messages import At, Order, decode_report
from suites.system import Lookout, system
from suites.system.status import ended
from suites.trial import Outcome, Result, Stage, Trial

TAIL = 4000
"""Bytes of what a trial printed that the diagnostic of a crash ends with."""

PRINTED_MAX = 64 << 20
"""Bytes that a trial may print before they are thrown away."""


STARTING = 45.0
"""Seconds that a trial which is not forked has for its imports, before its limit counts."""


class Hangup(Exception):  # noqa: N818 (the normal end)
    """The slot has gone: nobody waits for the trial."""


def start_method(device: str) -> str:
    """Fork where that is safe: nowhere for CUDA."""
    return "fork" if system.forks and device == "cpu" else "spawn"


class Watch:
    """Trials that run in one process, one after another, with their files in `folder`."""

    def __init__(self, order: Order, link: Link, folder: Path, threads: int) -> None:
        self.order = order
        self.link = link
        self.printed = folder / "printed.txt"
        work = folder / "work"
        work.mkdir()
        method = start_method(order.trials[0].device)
        context = multiprocessing.get_context(method)
        self.reports, reports = context.Pipe(duplex=False)
        self.process = context.Process(  # type: ignore[attr-defined]  # not of BaseContext
            target=child.main,
            args=(order.trials,),
            kwargs={
                "threads": threads,
                "folder": work,
                "printed": self.printed,
                "reports": reports,
                "parent": os.getpid(),
                "link": link if method == "fork" else None,
            },
        )
        self.process.start()
        self.family = system.adopt(self.process.pid)
        self._begin(order.trials[0], 0 if method == "fork" else STARTING)
        reports.close()
        self.open_reports: Connection | None = self.reports
        """None once they are closed or garbled."""

    def results(self) -> Iterator[Result]:
        """Yield what each trial came to as soon as it has, the last once nothing of it is alive;
        nothing of those that an early end leaves undone. Raises Hangup.
        """
        lookout = system.lookout(self.process, self.link.orders_from)
        result: Result | None = None
        try:
            for trial in self.order.trials:
                if result is not None:
                    yield result
                    self._begin(trial)
                result = self._follow(lookout)
                if result is None or result.outcome is Outcome.timed_out:
                    break
        finally:
            # The group first: until it is joined, a dead leader keeps the group's id from reuse.
            self.family.kill()
            self.process.kill()
            self.process.join()
            self.reports.close()
            self.family.close()
            lookout.close()
        if result is None:
            how = ended(self.process.exitcode)
            result = self._result(Outcome.crashed, f"the trial {how} without a result")
        yield result

    def _begin(self, trial: Trial, starting: float = 0) -> None:
        """A trial's time is its own: it begins where the one before it ends."""
        self.trial = trial
        self.entered: list[tuple[Stage, float]] = []
        self.deadline = time.monotonic() + starting + self.order.limit

    def _follow(self, lookout: Lookout) -> Result | None:
        """Return the result that the trial reports, None if the process dies before."""
        while True:
            left = self.deadline - time.monotonic()
            told = lookout.wait(self.open_reports, max(0, min(left, 1)))
            if lookout.hung_up():
                raise Hangup
            if told and self.open_reports is not None:
                try:
                    report = decode_report(self.open_reports.recv_bytes())
                except (EOFError, OSError, msgspec.DecodeError):
                    self.open_reports = None  # closed or garbled: its end will tell more
                    continue
                if not isinstance(report, At):
                    return report.result
                if not self.entered:
                    self.deadline = min(self.deadline, time.monotonic() + self.order.limit)
                self.entered.append((report.stage, time.monotonic()))
            elif lookout.ended():
                # It may have told right before.
                if self.open_reports is None or not self.open_reports.poll():
                    return None
            elif left <= 0:
                return self._result(
                    Outcome.timed_out, f"the trial took more than {self.order.limit:g} s"
                )
            else:
                self._trim()

    def _trim(self) -> None:
        if self.printed.exists() and self.printed.stat().st_size > PRINTED_MAX:
            os.truncate(self.printed, 0)

    def _result(self, outcome: Outcome, what: str) -> Result:
        """Make the result of a trial that made none."""
        ends = [*(since for _, since in self.entered[1:]), time.monotonic()]
        return Result(
            trial=self.trial,
            outcome=outcome,
            stage=self.entered[-1][0] if self.entered else Stage.build,
            diagnostic="\n".join(filter(None, (what, self._tail()))),
            seconds={
                stage: end - since for (stage, since), end in zip(self.entered, ends, strict=False)
            },
        )

    def _tail(self) -> str:
        """The end of what the trial printed."""
        if not self.printed.exists():
            return ""
        with self.printed.open("rb") as file:
            file.seek(-min(TAIL, self.printed.stat().st_size), os.SEEK_END)
            return file.read().decode(errors="replace").strip()
