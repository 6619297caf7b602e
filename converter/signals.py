"""What stops a program: Ctrl-C, and what a shell or a machine sends as it ends."""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Iterator
from types import FrameType
from typing import NoReturn


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Hold such signals back, so that what happens inside happens whole. Not on Windows."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    try:
        signal.pthread_sigmask(
            signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGXCPU}
        )
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def end_cleanly() -> None:
    """Let the program end as after Ctrl-C where it would die, so that it removes its files."""
    for name in ("SIGTERM", "SIGHUP", "SIGXCPU"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _end)


def _end(number: int, frame: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)
