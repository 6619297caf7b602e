"""Linux: forks, and the kernel itself tells of ends, by pidfds and signals."""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Mapping
from functools import cache
from multiprocessing.connection import wait
from pathlib import Path
from typing import IO, Any

from suites.system.base import Lookout, System
from suites.system.posix import Posix

PR_SET_PDEATHSIG = 1


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None)


def _die_with_parent() -> None:
    """In a child, before it becomes another program: be killed when its parent dies."""
    _libc().prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Descriptors:
    """Waits for all of it at once. A pidfd tells of the end also of who has closed its pipes."""

    def __init__(self, died: int, orders: IO[bytes]) -> None:
        self._died = died
        self._orders = orders.fileno()
        self._ready: list[Any] = []

    def wait(self, reports: Any, limit: float) -> bool:
        watched = [self._died, self._orders]
        self._ready = wait(watched if reports is None else [reports, *watched], limit)
        return reports in self._ready

    def ended(self) -> bool:
        return self._died in self._ready

    def hung_up(self) -> bool:
        return self._orders in self._ready

    def close(self) -> None:
        os.close(self._died)


class Linux(Posix):
    """As Posix, with less waiting and fewer threads."""

    forks = True

    def __init__(self) -> None:
        _libc()  # loaded here: between fork and exec no library is
        self.dependent: Mapping[str, Any] = {"preexec_fn": _die_with_parent}

    def end_with_parent(self, parent: int, *, at_once: bool) -> None:
        _libc().prctl(PR_SET_PDEATHSIG, signal.SIGKILL if at_once else signal.SIGTERM)
        if os.getppid() != parent:  # it died before
            os._exit(1)

    def lookout(self, process: Any, orders: IO[bytes]) -> Lookout:
        try:
            died = os.pidfd_open(process.pid)
        except (AttributeError, OSError):  # not in every Python, not in every kernel
            return super().lookout(process, orders)
        return Descriptors(died, orders)

    def processor(self) -> str:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
        return ""


def make() -> System:
    return Linux()
