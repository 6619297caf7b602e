"""The runner's life: import, warm up, then one trial after another."""

from __future__ import annotations

import contextlib
import gc
import os
import shutil
import signal
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import torch

from orchestrator.runner import hugepages
from orchestrator.runner.link import Link
from orchestrator.runner.messages import Done, Order, Ready
from orchestrator.runner.survey import survey
from orchestrator.runner.watch import Hangup, Watch
from suites import registry
from suites.trial import Result
from suites.warm import warm


def serve(link: Link) -> None:
    """Answer orders until the slot hangs up, then leave nothing behind."""
    with (
        tempfile.TemporaryDirectory(prefix="pnnx-parity-", ignore_cleanup_errors=True) as base,
        contextlib.suppress(Hangup),
    ):
        os.environ["TMPDIR"] = tempfile.tempdir = base  # for what trials leave in it
        threads = _warm()
        signal.signal(signal.SIGTERM, _hang_up)
        link.send(Ready(survey(threads), base))
        for order in link.orders():
            for result in run(order, link, Path(base), threads):
                link.send(Done(result))


def _warm() -> int:
    """Get ready to fork, with one native thread; return how many a trial may have."""
    threads: int = torch.get_num_threads()  # what the cell's variables made of it: the trials' own
    torch.set_num_threads(1)  # a child forked from a parent that has used more hangs
    warm()
    warnings.filterwarnings("ignore", message=".*multi-threaded.*fork", category=DeprecationWarning)
    gc.collect()
    gc.freeze()  # children share what is there: no collection shall write to it
    hugepages.collapse()
    return threads


def _hang_up(number: int, frame: object) -> None:
    """End well: the slot has died, and the kernel says so."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise Hangup


def run(order: Order, link: Link, base: Path, threads: int) -> Iterator[Result]:
    """Run trials in a process and a folder of their own; the folder is removed afterwards.

    What an early end of the process left undone is run in another.
    """
    _import(order.trials[0].case)
    waiting = order.trials
    while waiting:
        folder = Path(tempfile.mkdtemp(dir=base))
        try:
            for result in Watch(Order(waiting, order.limit), link, folder, threads).results():
                waiting = waiting[1:]
                yield result
        finally:
            shutil.rmtree(folder, ignore_errors=True)  # what escaped may still write to it


def _import(case: str) -> None:
    """Import a case's file here, so that what it imports is imported once for all its trials."""
    with contextlib.suppress(
        Exception, SystemExit
    ):  # the trial meets the same error, and reports it
        registry.load(case)
