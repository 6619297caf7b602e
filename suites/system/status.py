"""What ended a process, by its exit status."""

from __future__ import annotations

import signal

FAULTS = {
    0xC0000005: "an access violation",
    0xC000001D: "an illegal instruction",
    0xC0000094: "an integer division by zero",
    0xC00000FD: "a stack overflow",
    0xC0000135: "a missing DLL",
    0xC0000374: "a corrupted heap",
    0xC0000409: "its own abort",
}
"""What Windows ends processes for; the exit status is that number."""


def killer(status: int) -> str | None:
    """Name the signal (a negative status) or the fault of Windows; None if it ended by itself."""
    if status < 0:
        try:
            return signal.Signals(-status).name
        except ValueError:
            return f"signal {-status}"
    if status >= 0xC0000000:
        return f"{FAULTS.get(status, 'a fault')} (0x{status:X})"
    return None


def ended(status: int) -> str:
    """Say how a process ended."""
    by = killer(status)
    return f"was killed by {by}" if by else f"ended with exit status {status}"
