"""Windows: job objects hold processes together, and no signal is sent."""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from multiprocessing.connection import wait
from pathlib import Path
from typing import IO, Any

from suites.system.base import Family, Lookout, System
from suites.system.job import Job, Kernel

PAUSE = 0.05
"""Seconds between two looks, also at a lock that another process holds."""

CREATE_NEW_PROCESS_GROUP = 0x200
SIGBREAK = 21
"""What Ctrl-Break and a console that is closed send; Python has the name on Windows only."""


class Looks:
    """Looks again and again: a pipe's end cannot be waited for together with a Connection."""

    def __init__(self, process: Any, orders: IO[bytes], kernel: Kernel, runtime: Any) -> None:
        self._process = process
        self._kernel = kernel
        self._orders: int = runtime.get_osfhandle(orders.fileno())

    def wait(self, reports: Any, limit: float) -> bool:
        pause = min(limit, PAUSE)
        if reports is None:
            time.sleep(pause)
            return False
        return bool(wait([reports], pause))

    def ended(self) -> bool:
        return self._process.exitcode is not None

    def hung_up(self) -> bool:
        waiting = ctypes.c_uint32()
        known = self._kernel.PeekNamedPipe(self._orders, None, 0, None, ctypes.byref(waiting), None)
        return not known or waiting.value > 0  # it fails once the other end is closed

    def close(self) -> None:
        """Nothing is held."""


class Windows:
    """Starts processes afresh, each in a job that ends with the process that made it."""

    forks = False
    apart: Mapping[str, Any] = {"creationflags": CREATE_NEW_PROCESS_GROUP}
    dependent: Mapping[str, Any] = {}  # it is in its trial's job

    def __init__(self, kernel: Kernel, runtime: Any) -> None:
        self._kernel = kernel
        self._runtime = runtime
        known = [each for each in signal.Signals if each == SIGBREAK]
        self.stopping = (signal.SIGINT, signal.SIGTERM, *known)

    def python(self, home: Path) -> Path:
        return home / "Scripts" / "python.exe"

    def program(self, name: str) -> str:
        return f"{name}.exe"

    def spell(self, words: Sequence[str]) -> str:
        return subprocess.list2cmdline(words)

    def lead(self) -> None:
        """Whoever started this process has put it into a job."""

    def adopt(self, process: int) -> Family:
        return Job(self._kernel, process)

    def end_with_parent(self, parent: int, *, at_once: bool) -> None:
        """The parent has put this process into a job, which ends with it."""

    def kill(self, process: int) -> None:
        os.kill(process, signal.SIGTERM)  # which terminates, unheard

    def lookout(self, process: Any, orders: IO[bytes]) -> Lookout:
        return Looks(process, orders, self._kernel, self._runtime)

    @contextlib.contextmanager
    def locked(self, file: IO[str]) -> Iterator[None]:
        """Hold the file's first byte, which need not exist."""
        descriptor = file.fileno()
        while True:
            with contextlib.suppress(OSError):  # another process holds it
                self._runtime.locking(descriptor, self._runtime.LK_NBLCK, 1)
                break
            time.sleep(PAUSE)
        try:
            yield
        finally:
            self._runtime.locking(descriptor, self._runtime.LK_UNLCK, 1)

    def link(self, folder: Path, at: Path) -> None:
        """By a junction: symbolic links are for those with the right to make them."""
        import_module("_winapi").CreateJunction(str(folder), str(at))

    def processor(self) -> str:
        return platform.processor()


def make() -> System:
    from suites.system.job import load

    return Windows(load(), import_module("msvcrt"))
