"""The project's code for the nodes of a cluster: they run what the driver's checkout has."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from orchestrator.cells import ROOT

NEEDED = ("converter", "orchestrator", "suites", "envs", "pyproject.toml")


@contextlib.contextmanager
def shipment() -> Iterator[Path]:
    """Yield a folder with a copy of what runners need, which Ray is to upload."""
    with tempfile.TemporaryDirectory(prefix="pnnx-parity-ship-") as folder:
        for name in NEEDED:
            source, copy = ROOT / name, Path(folder, name)
            if source.is_dir():
                shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(source, copy)
        yield Path(folder)
