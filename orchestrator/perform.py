"""Run planned trials on Ray, and keep what comes of them."""

from __future__ import annotations

import contextlib
import datetime
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from orchestrator.cells import Cell, CellError
from orchestrator.cluster.connect import connected, own_cpus
from orchestrator.errors import UsageError
from orchestrator.expectations import Table
from orchestrator.journal import Journal
from orchestrator.plan import Planned
from orchestrator.progress import Progress
from orchestrator.recorder import Recorder
from orchestrator.runs import Run
from suites.system import system


def perform(
    run: Run,
    planned: Sequence[Planned],
    cells: Mapping[str, Cell],
    table: Table,
    *,
    address: str | None,
    workers: int | None,
) -> None:
    """Run trials into a run's journal. What ends that early leaves the run incomplete, and says so.

    Raises UsageError where not one trial was run: no such cluster, no cell that starts.
    """
    begun = time.monotonic()
    is_new = len(run.missing()) == len(run.record.plan)
    run.record.stopped = ""
    with Journal(run.journal) as journal, Progress(planned) as progress:
        recorder = Recorder(run, journal, table, progress, cells)
        try:
            _drive(run, planned, cells, recorder, address, workers)
            if is_new and recorder.ready is None:
                raise CellError("; ".join(dict.fromkeys(loss.reason for loss in run.record.lost)))
        except KeyboardInterrupt:
            run.record.stopped = "interrupted"
        except UsageError as error:
            if not recorder.results:
                raise
            run.record.stopped = f"stopped: {error}"
        if run.record.stopped:
            progress.line(run.record.stopped)
        ready = recorder.ready or time.monotonic()
        run.spent("start", ready - begun)
        run.spent("trials", time.monotonic() - ready)
    missing = set(run.missing())
    run.record.forget({trial for trial in run.record.plan if trial not in missing})
    if not missing:
        run.record.finished = datetime.datetime.now(datetime.UTC)
    run.save()


def _drive(
    run: Run,
    planned: Sequence[Planned],
    cells: Mapping[str, Cell],
    recorder: Recorder,
    address: str | None,
    workers: int | None,
) -> None:
    with _stoppable() as handle, connected(address, workers) as capacity:
        handle()  # again: Ray has handlers of its own
        from orchestrator.cluster.drive import Driver  # imports ray

        run.record.workers = sum(capacity)
        run.record.cores = own_cpus()
        Driver(planned, cells, capacity, recorder).run()


@contextlib.contextmanager
def _stoppable() -> Iterator[Callable[[], None]]:
    """Let the first SIGINT or its like raise KeyboardInterrupt, and later ones not disturb the end.

    Yields what sets the handlers, for when others have been set since.
    """
    signals = system.stopping

    def stop(number: int, frame: object) -> None:
        for each in signals:
            signal.signal(each, signal.SIG_IGN)
        raise KeyboardInterrupt

    def handle() -> None:
        for each in signals:
            signal.signal(each, stop)

    before = [signal.getsignal(each) for each in signals]
    handle()
    try:
        yield handle
    finally:
        for each, handler in zip(signals, before, strict=True):
            signal.signal(each, handler)
