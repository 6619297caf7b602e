"""What a run leaves beside its results: `run.json`, written by the run, read by the reports."""

from __future__ import annotations

import datetime
from typing import Annotated

import msgspec

from suites.trial import Trial

FORMAT = 1
"""The version of run.json's layout; a reader refuses others."""


Moment = Annotated[datetime.datetime, msgspec.Meta(tz=True)]


class CellRecord(msgspec.Struct, kw_only=True):
    """A cell as a runner found it, inside its own Python."""

    python: str
    """Its version, such as `3.11.7`; empty where no runner was started, as all trials were skipped:
    then the rest is what the cell's file says."""
    platform: str
    """`sys.platform`: linux, darwin, win32."""
    machine: str = ""
    """`platform.machine()`, such as `x86_64`."""
    packages: dict[str, str] = {}
    """The version of every installed distribution."""
    env: dict[str, str] = {}
    """The OMP, MKL and CUDA variables that it sees."""
    threads: int | None = None
    """`torch.get_num_threads()` in a trial."""

    @property
    def is_read(self) -> bool:
        """Whether a runner read these facts."""
        return bool(self.python)


class RunRecord(msgspec.Struct, kw_only=True):
    """One run: what was to be done, where, and with what. Times are UTC."""

    format: int = FORMAT
    run: str
    """The name of the run's folder."""
    started: Moment
    finished: Moment | None = None
    """None while it runs, and where it was killed."""
    command: list[str] = []
    """The command line, from `run` on."""
    commit: str = ""
    """The project's git commit, with `+` where the tree had changes."""
    versions: dict[str, str] = {}
    """Of the orchestrator's own Python, ray and pnnx-parity."""
    cpu: str = ""
    cores: int = 0
    """That the run may use."""
    workers: int = 0
    plan: list[Trial]
    """Every trial that the run is to do, in the order planned."""
    cells: dict[str, CellRecord] = {}
    seconds: dict[str, float] = {}
    """Wall time by phase: `start`, `trials`, `report`."""
