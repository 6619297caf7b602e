"""How much memory a trial takes beyond what it shares with its runner. Linux only."""

from __future__ import annotations

from pathlib import Path

STATUS = Path("/proc/self/status")
CLEAR = Path("/proc/self/clear_refs")


def reset_peak() -> float | None:
    """Let the peak start anew, and return what is resident now, in MiB."""
    if not CLEAR.exists():
        return None
    CLEAR.write_text("5")  # forked processes begin with their parent's peak
    return _read("VmRSS")


def peak_above(before: float | None) -> float | None:
    """Return how far above `before` the resident memory has been since, in MiB."""
    return None if before is None else round(max(0.0, _read("VmHWM") - before), 1)


def _read(field: str) -> float:
    for line in STATUS.read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) / 1024
    raise KeyError(field)
