"""Any Unix, by what POSIX has alone: macOS, and Linux in tests."""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import shlex
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from multiprocessing.connection import wait
from pathlib import Path
from typing import IO, Any

from suites.system.base import Family, Lookout, System

PAUSE = 0.05
"""Seconds between two looks at a process, where the kernel does not tell of its end."""


class Group:
    """A process that leads a group, and the group."""

    def __init__(self, leader: int) -> None:
        self._leader = leader

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._leader, signal.SIGKILL)

    def close(self) -> None:
        """Nothing is held."""


class Looks:
    """Looks again and again. A process's sentinel will not do: trials close what they inherit."""

    def __init__(self, process: Any, orders: IO[bytes]) -> None:
        self._process = process
        self._orders = orders

    def wait(self, reports: Any, limit: float) -> bool:
        pause = min(limit, PAUSE)
        if reports is None:
            time.sleep(pause)
            return False
        return bool(wait([reports], pause))

    def ended(self) -> bool:
        return self._process.exitcode is not None

    def hung_up(self) -> bool:
        return bool(select.select([self._orders], [], [], 0)[0])

    def close(self) -> None:
        """Nothing is held."""


class Posix:
    """Starts processes afresh, looks for their ends, and watches its parent in a thread."""

    forks = False  # not beside the Objective-C runtime and the threads that macOS starts by itself
    stopping: tuple[signal.Signals, ...] = (signal.SIGINT, signal.SIGTERM)
    apart: Mapping[str, Any] = {"start_new_session": True}
    dependent: Mapping[str, Any] = {}

    def python(self, home: Path) -> Path:
        return home / "bin" / "python"

    def program(self, name: str) -> str:
        return name

    def spell(self, words: Sequence[str]) -> str:
        return shlex.join(words)

    def lead(self) -> None:
        os.setsid()

    def adopt(self, process: int) -> Family:
        return Group(process)

    def end_with_parent(self, parent: int, *, at_once: bool) -> None:
        threading.Thread(target=_wait_and_end, args=(parent, at_once), daemon=True).start()

    def kill(self, process: int) -> None:
        os.kill(process, signal.SIGKILL)

    def lookout(self, process: Any, orders: IO[bytes]) -> Lookout:
        return Looks(process, orders)

    @contextlib.contextmanager
    def locked(self, file: IO[str]) -> Iterator[None]:
        fcntl.flock(file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(file, fcntl.LOCK_UN)

    def link(self, folder: Path, at: Path) -> None:
        at.symlink_to(folder)

    def processor(self) -> str:
        command = ("sysctl", "-n", "machdep.cpu.brand_string")
        try:
            told = subprocess.run(command, capture_output=True, text=True, timeout=10)
        except (OSError, subprocess.TimeoutExpired):
            return ""
        return told.stdout.strip()


def _wait_and_end(parent: int, at_once: bool) -> None:
    """Wait for the parent's end, then end this process, and at once its family too."""
    while os.getppid() == parent:
        time.sleep(PAUSE)
    if at_once:
        os.killpg(os.getpgrp(), signal.SIGKILL)
    main = threading.main_thread().ident
    assert main is not None
    signal.pthread_kill(main, signal.SIGTERM)  # the one that may wait for orders


def make() -> System:
    return Posix()
