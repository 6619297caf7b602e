"""What differs between operating systems, chosen once: everything else asks `system`.

`linux` is what the project is developed and tested on. `posix` needs neither prctl nor pidfds nor
fork, so it serves macOS, and runs on Linux too: tests choose it there with `PNNX_PARITY_SYSTEM`.
`windows` has job objects. Needs the standard library only: noxfile.py imports it in nox's Python.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module

from suites.system.base import Family, Lookout, System

__all__ = ["SWITCH", "Family", "Lookout", "System", "choose", "system"]

SWITCH = "PNNX_PARITY_SYSTEM"
"""The environment variable with which tests choose another one: `linux`, `posix`, `windows`."""

OF_PLATFORM = {"linux": "linux", "win32": "windows"}
"""Which one serves a `sys.platform`; `posix` serves the others."""


def choose(platform: str, wanted: str | None = None) -> System:
    """Return the system of a `sys.platform`, or the wanted one."""
    name = wanted or OF_PLATFORM.get(platform, "posix")
    if name not in (*OF_PLATFORM.values(), "posix"):
        raise SystemExit(f"{SWITCH}={name}: no such system; give linux, posix or windows")
    made: System = import_module(f"suites.system.{name}").make()
    return made


system = choose(sys.platform, os.environ.get(SWITCH))
