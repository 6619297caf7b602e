"""Where a Python is that an environment can be made with."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys

from packaging.specifiers import SpecifierSet

NEWEST = 20
"""The minor version from which on PATH is searched downwards."""

LIMIT = 30.0
"""Seconds that uv may take to look."""


def find(wanted: SpecifierSet) -> str | None:
    """Return a Python of these versions: this one, the newest on PATH, or one that uv knows."""
    if platform.python_version() in wanted:
        return sys.executable
    for minor in range(NEWEST, 8, -1):
        path = shutil.which(f"python3.{minor}")
        if path and f"3.{minor}.99" in wanted:
            return path
    return _of_uv(wanted)


def _of_uv(wanted: SpecifierSet) -> str | None:
    uv = shutil.which("uv")
    if uv is None:
        return None
    command = [uv, "python", "find", "--no-python-downloads", "--no-project", str(wanted)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None if done.returncode == 0 else None


def lack(wanted: SpecifierSet) -> str:
    """Say that there is none, and the mend."""
    return (
        f"this machine has no Python {wanted}: install one so that PATH or uv has it,"
        f' such as with: uv python install "{wanted}"'
    )
