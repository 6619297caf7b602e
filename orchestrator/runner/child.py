"""Trials of one conversion in a process of their own, apart from the runner and all others."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path

import torch

from orchestrator.runner import memory
from orchestrator.runner.link import Link, print_to
from orchestrator.runner.messages import At, Done, encode
from suites.execute import run_trials
from suites.system import system
from suites.trial import Stage, Trial


def main(
    trials: Sequence[Trial],
    *,
    threads: int,
    folder: Path,
    printed: Path,
    reports: Connection,
    parent: int,
    link: Link | None,
) -> None:
    """Run trials that share a conversion in `folder`; report their stages and their results.

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
    for result in run_trials(trials, folder, at):
        result.peak_mb = memory.peak_above(before)
        reports.send_bytes(encode(Done(result)))
        before = memory.reset_peak()
