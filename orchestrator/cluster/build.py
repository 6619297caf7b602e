"""A cell's Python on a node: the one that nox built there, or one built from the same pins."""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

from orchestrator import interpreters
from orchestrator.cells import ROOT, Cell, CellError
from suites.system import system

BUILD_LIMIT = 1800.0
"""Seconds for an installation: gigabytes, where torch is a CUDA build."""

COMPLETE = "complete"
"""The file that an environment has once it is whole."""


def python_of(cell: Cell, checkout: Path) -> Path:
    """Return the cell's Python on this node, built first if need be (minutes).

    `checkout` is the driver's, which this node has if it is the driver's own or shares its disk.
    Raises CellError where it cannot be built.
    """
    with contextlib.suppress(CellError):
        return cell.python_path(checkout)
    wanted = [*cell.pins, *_requirements()]
    home = _cache() / f"{cell.environment}-{_digest(wanted)}"
    python = system.python(home)
    with _only_one(home):
        if not (home / COMPLETE).exists():
            shutil.rmtree(home, ignore_errors=True)
            _run(cell, _interpreter(cell), "-m", "venv", str(home))
            _run(cell, str(python), "-m", "pip", "install", "--quiet", *wanted)
            (home / COMPLETE).touch()
    return python


def _requirements() -> list[str]:
    """What the project itself needs in a cell."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [*project["dependencies"], *project["optional-dependencies"]["suites"]]


def _digest(wanted: list[str]) -> str:
    text = "\n".join([platform.python_version(), *wanted])
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "pnnx-parity")


@contextlib.contextmanager
def _only_one(home: Path) -> Iterator[None]:
    """Let one slot of the node build, and the others wait for it."""
    home.parent.mkdir(parents=True, exist_ok=True)
    with home.with_suffix(".lock").open("w") as file, system.locked(file):
        yield


def _interpreter(cell: Cell) -> str:
    found = interpreters.find(cell.python)
    if found is None:
        raise CellError(f"cell {cell.name}: {platform.node()}: {interpreters.lack(cell.python)}")
    return found


def _run(cell: Cell, *command: str) -> None:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=BUILD_LIMIT
        )
    except subprocess.TimeoutExpired:
        reason = f"{' '.join(command[1:4])} took more than {BUILD_LIMIT:g} s"
    else:
        if not done.returncode:
            return
        lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        reason = lines[-1] if lines else f"{' '.join(command[1:4])} failed"
    raise CellError(
        f"cell {cell.name} cannot be built on {platform.node()}: {reason};"
        f' see to its network and disk, or run there: nox -s "{cell.session}"'
    )
