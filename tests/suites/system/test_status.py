"""How a process ended, as each system tells it."""

from __future__ import annotations

import signal

import pytest

from suites.system.status import ended, killer


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (0, "ended with exit status 0"),
        (3, "ended with exit status 3"),
        (-signal.SIGSEGV, "was killed by SIGSEGV"),
        (-77, "was killed by signal 77"),
        (0xC0000005, "was killed by an access violation (0xC0000005)"),
        (0xC0000017, "was killed by a fault (0xC0000017)"),
    ],
)
def test_told(status: int, told: str) -> None:
    assert ended(status) == told


def test_nobody_kills_what_ends_by_itself() -> None:
    assert killer(1) is None
