"""Commands as the user can paste them into the shell where the program was started."""

from __future__ import annotations

import shutil
import sys
from functools import cache
from pathlib import Path

from suites.system import system

NAME = "pnnx-parity"
"""What the program is called where nobody knows how it will be started, as in reports."""


def command(*words: str) -> str:
    """Spell a command of this program for the shell where it was started."""
    return f"{_program()} {system.spell(words)}"


@cache
def _program() -> str:
    """How to start the program that runs: by its name only where PATH leads to this very one.

    In a checkout it is `.nox/orchestrator/bin/pnnx-parity`, which no PATH has.
    """
    script = Path(sys.executable).with_name(system.program(NAME))
    if not script.exists():
        return system.spell([_near(Path(sys.executable)), "-m", "orchestrator.cli"])
    found = shutil.which(NAME)
    if found and Path(found).absolute() == script.absolute():
        return NAME
    return system.spell([_near(script)])


def _near(path: Path) -> str:
    """A path from the working directory, where it lies below that."""
    path = path.absolute()
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)
