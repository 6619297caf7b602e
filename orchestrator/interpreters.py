"""Where a Python is that an environment can be made with."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from packaging.specifiers import SpecifierSet

NEWEST = 20
"""The minor version from which on PATH is searched downwards."""

LIMIT = 30.0
"""Seconds that a program may take to say what it is."""


def find(wanted: SpecifierSet) -> str | None:
    """Return a Python of these versions that runs: this one, or of those on PATH, of pyenv and of
    uv the first, the newest of each first."""
    if platform.python_version() in wanted:
        return sys.executable
    for program in (*_on_path(wanted), *_of_pyenv(wanted), *_of_uv(wanted)):
        # A name on PATH may be a stand-in: pyenv has one for each version that it could start.
        version = _said(program, "-c", "import platform; print(platform.python_version())")
        if version and version in wanted:
            return program
    return None


def _on_path(wanted: SpecifierSet) -> Iterator[str]:
    for minor in range(NEWEST, 8, -1):
        path = shutil.which(f"python3.{minor}")
        if path and f"3.{minor}.99" in wanted:
            yield path


def _of_pyenv(wanted: SpecifierSet) -> Iterator[str]:
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv", "versions")
    found = [path for path in root.glob("3.*") if re.fullmatch(r"3\.\d+\.\d+", path.name)]
    for path in sorted(found, key=lambda path: list(map(int, path.name.split("."))), reverse=True):
        if path.name in wanted:
            yield str(path / "bin" / "python")


def _of_uv(wanted: SpecifierSet) -> Iterator[str]:
    uv = shutil.which("uv")
    if uv is not None:
        words = ("python", "find", "--no-python-downloads", "--no-project")
        if found := _said(uv, *words, str(wanted)):
            yield found


@cache
def _said(*command: str) -> str:
    """What a program prints; nothing where it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def lack(wanted: SpecifierSet) -> str:
    """Say that there is none, and the mend."""
    return (
        f"this machine has no Python {wanted} that runs: install one so that PATH, pyenv or uv has"
        f' it, such as with: uv python install "{wanted}"'
    )
