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


class Loss(msgspec.Struct, kw_only=True, omit_defaults=True):
    """Why trials have no result: those of a cell on a device, or one trial."""

    cell: str
    device: str
    reason: str
    trial: Trial | None = None
    """The one; None means all of the cell and device that have no result."""

    def covers(self, trial: Trial) -> bool:
        if self.trial is not None:
            return self.trial == trial
        return (self.cell, self.device) == (trial.cell, trial.device)


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
    lost: list[Loss] = []
    """What was given up. A resumed run tries it again, and forgets what then comes to a result."""
    stopped: str = ""
    """What ended the run before its end: `interrupted`."""

    def lose(self, loss: Loss) -> None:
        """Add a loss, in the place of an earlier one of the same."""
        place = (loss.cell, loss.device, loss.trial)
        kept = [each for each in self.lost if (each.cell, each.device, each.trial) != place]
        self.lost = [*kept, loss]

    def forget(self, done: set[Trial]) -> None:
        """Drop the losses of what has a result meanwhile."""
        missing = [trial for trial in self.plan if trial not in done]
        self.lost = [loss for loss in self.lost if any(map(loss.covers, missing))]

    def why(self, trial: Trial) -> str:
        """Why a trial has no result; empty where nobody could say, as the run was killed."""
        losses = sorted(self.lost, key=lambda loss: loss.trial is None)  # the closest first
        reasons = (loss.reason for loss in losses if loss.covers(trial))
        return next(reasons, self.stopped)
