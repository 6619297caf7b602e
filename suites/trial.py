"""What a trial is and what becomes of it: the records that runner, journal and reports share."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Stage(StrEnum):
    """Where a trial is, in this order."""

    build = "build"
    eager = "eager"
    export = "export"
    convert = "convert"
    load = "load"
    infer = "infer"
    compare = "compare"


class Outcome(StrEnum):
    passed = "passed"
    failed = "failed"
    crashed = "crashed"
    timed_out = "timed_out"
    skipped = "skipped"


FRONTENDS = ("ts", "pt2")
TARGETS = ("pnnx", "ncnn")
DEVICES = ("cpu", "cuda")


class Trial(msgspec.Struct, frozen=True, order=True):
    """One case in one cell through one frontend to one target on one device."""

    case: str
    cell: str
    frontend: str
    target: str
    device: str = "cpu"

    def __str__(self) -> str:
        return f"{self.cell}/{self.case}/{self.frontend}/{self.target}/{self.device}"


class Result(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What a trial came to.

    `stage` is where it ended (None when it passed), `diagnostic` the text that tells why, in the
    words of what refused or failed; `seconds` the time of each stage that was reached; `attempts`
    counts infrastructure faults (a dead runner) too; `peak_mb` is the trial's own peak resident
    memory.
    """

    trial: Trial
    outcome: Outcome
    stage: Stage | None = None
    diagnostic: str = ""
    seconds: dict[str, float] = {}
    attempts: int = 1
    peak_mb: float | None = None

    @property
    def total(self) -> float:
        """Seconds over all stages."""
        return sum(self.seconds.values())
