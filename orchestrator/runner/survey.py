"""A cell as it is, read inside its runner."""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import distributions

from packaging.utils import canonicalize_name

from orchestrator.cells import GOVERNED
from orchestrator.record import CellRecord


def survey(threads: int) -> CellRecord:
    """Read versions and variables; `threads` is what torch made of the variables."""
    return CellRecord(
        python=platform.python_version(),
        platform=sys.platform,
        machine=platform.machine(),
        packages={canonicalize_name(each.name): each.version for each in distributions()},
        env={name: value for name, value in os.environ.items() if name.startswith(GOVERNED)},
        threads=threads,
    )
