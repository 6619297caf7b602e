"""Start a trial's process, follow its reports, and see to its end."""

from __future__ import annotations

import multiprocessing
import os
import time
from multiprocessing.connection import Connection
from pathlib import Path

import msgspec

from orchestrator.runner import child
from orchestrator.runner.link import Link
from orchestrator.runner.messages import At, Order, decode_report
from suites.system import Lookout, system
from suites.system.status import ended
from suites.trial import Outcome, Result, Stage

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
    """A trial that runs in its own process, with its files in `folder`."""

    def __init__(self, order: Order, link: Link, folder: Path, threads: int) -> None:
        self.order = order
        self.link = link
        self.printed = folder / "printed.txt"
        self.entered: list[tuple[Stage, float]] = []
        work = folder / "work"
        work.mkdir()
        method = start_method(order.trial.device)
        context = multiprocessing.get_context(method)
        self.reports, reports = context.Pipe(duplex=False)
        self.process = context.Process(  # type: ignore[attr-defined]  # not of BaseContext
            target=child.main,
            args=(order.trial,),
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
        starting = 0 if method == "fork" else STARTING
        self.deadline = time.monotonic() + starting + order.limit
        reports.close()

    def result(self) -> Result:
        """Wait for the trial's end, and leave nothing of it alive. Raises Hangup."""
        lookout = system.lookout(self.process, self.link.orders_from)
        try:
            result = self._follow(lookout)
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
            return self._result(Outcome.crashed, f"the trial {how} without a result")
        return result

    def _follow(self, lookout: Lookout) -> Result | None:
        """Return the result that the trial reports, None if it dies before."""
        reports: Connection | None = self.reports
        while True:
            left = self.deadline - time.monotonic()
            told = lookout.wait(reports, max(0, min(left, 1)))
            if lookout.hung_up():
                raise Hangup
            if told and reports is not None:
                try:
                    report = decode_report(reports.recv_bytes())
                except (EOFError, OSError, msgspec.DecodeError):
                    reports = None  # closed or garbled: its end will tell more
                    continue
                if not isinstance(report, At):
                    return report.result
                if not self.entered:
                    self.deadline = min(self.deadline, time.monotonic() + self.order.limit)
                self.entered.append((report.stage, time.monotonic()))
            elif lookout.ended():
                if reports is None or not reports.poll():  # it may have told right before
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
            trial=self.order.trial,
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
