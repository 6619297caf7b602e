"""Ends of processes: with their parent's, and by name of signal."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


def with_parent(parent: int, sign: signal.Signals) -> None:
    """Have the kernel send this process a signal when its parent, of that id, dies. Linux only."""
    if _libc is not None:
        _libc.prctl(PR_SET_PDEATHSIG, sign)
        if os.getppid() != parent:  # it died before
            os._exit(1)


def kill_group(leader: int) -> None:
    """Kill a process that leads a group, and everything in the group."""
    kill = os.killpg if hasattr(os, "killpg") else os.kill
    with contextlib.suppress(ProcessLookupError):
        kill(leader, signal.SIGKILL if os.name == "posix" else signal.SIGTERM)


def describe(status: int) -> str:
    """Say how a process ended, by its exit code (negative: a signal)."""
    if status >= 0:
        return f"ended with exit status {status}"
    try:
        return f"was killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"was killed by signal {-status}"
