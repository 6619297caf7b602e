"""One trial in its own process, apart from the runner and from every other trial."""

from __future__ import annotations

import signal
from multiprocessing.connection import Connection
from pathlib import Path

import torch

from orchestrator.runner import memory
from orchestrator.runner.link import Link, print_to
from orchestrator.runner.messages import At, Done, encode
from suites.execute import run_trial
from suites.system import system
from suites.trial import Stage, Trial


def main(
    trial: Trial,
    *,
    threads: int,
    folder: Path,
    printed: Path,
    reports: Connection,
    parent: int,
    link: Link | None,
) -> None:
    """Run a trial in `folder`, and report its stages and its result.

    What it and its programs print goes to the file `printed`; `link` is the runner's, if this
    process was forked from it.
    """
    torch.set_num_threads(
        threads
    )  # before anything else: a pool of another size is not forked well
    system.lead()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    system.end_with_parent(parent, at_once=True)
    if link is not None:
        link.close()
    print_to(printed)

    def at(stage: Stage) -> None:
        reports.send_bytes(encode(At(stage)))

    before = memory.reset_peak()
    result = run_trial(trial, folder, at)
    result.peak_mb = memory.peak_above(before)
    reports.send_bytes(encode(Done(result)))
