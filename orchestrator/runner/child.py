"""One trial in its own process, apart from the runner and from every other trial."""

from __future__ import annotations

import os
import signal
from multiprocessing.connection import Connection
from pathlib import Path

import torch

from orchestrator.runner import end, memory
from orchestrator.runner.link import Link
from orchestrator.runner.messages import At, Done, encode
from suites.execute import run_trial
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
    if hasattr(os, "setsid"):
        os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    end.with_parent(parent, signal.SIGKILL)
    if link is not None:
        link.close()
    output = os.open(printed, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.close(output)

    def at(stage: Stage) -> None:
        reports.send_bytes(encode(At(stage)))

    before = memory.reset_peak()
    result = run_trial(trial, folder, at)
    result.peak_mb = memory.peak_above(before)
    reports.send_bytes(encode(Done(result)))
