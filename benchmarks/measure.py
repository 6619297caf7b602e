"""Run a program and tell how long it took and how much memory it held at most.

A child's peak begins with its parent's, so that only a small process measures right: this module
imports nothing big, and neither may who uses it.
"""

from __future__ import annotations

import os
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Collection, Sequence
from typing import NamedTuple


class Usage(NamedTuple):
    """Of one whole process: wall-clock seconds, CPU seconds, peak resident memory in MB."""

    wall: float
    cpu: float
    peak_mb: float


def run(
    command: Sequence[str],
    log: str = os.devnull,
    fine: Collection[int] = (0,),
    limit: float = 600,
) -> Usage:
    """Run a command. Raises CalledProcessError if its exit status is not `fine`, as it is not where
    it runs for more than `limit` seconds.
    """
    out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    started = time.perf_counter()
    actions = [(os.POSIX_SPAWN_DUP2, out, 1), (os.POSIX_SPAWN_DUP2, out, 2)]
    pid = os.posix_spawn(command[0], command, os.environ, file_actions=actions)
    killer = threading.Timer(limit, os.kill, (pid, signal.SIGKILL))
    killer.start()
    _, status, usage = os.wait4(pid, 0)
    wall = time.perf_counter() - started
    killer.cancel()
    os.close(out)
    code = os.waitstatus_to_exitcode(status)
    if code not in fine:
        raise subprocess.CalledProcessError(code, command)
    scale = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return Usage(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / scale)


def medians(usages: Sequence[Usage]) -> Usage:
    """The median of each figure."""
    return Usage(*(statistics.median(figures) for figures in zip(*usages, strict=True)))
