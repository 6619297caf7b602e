"""What a trial is and what becomes of it: the records that runner, journal and reports share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Annotated

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
PLAIN, STRICT, DECOMPOSED = EXPORTS = ("plain", "strict", "decomposed")
"""How the pt2 frontend exports: as torch.export does by itself, with `strict=True`, or with
`run_decompositions()` after it. The ts frontend knows only the plain way, tracing.
"""


class Trial(msgspec.Struct, frozen=True, order=True):
    """One case in one cell through one frontend to one target on one device.

    `export` is how the pt2 frontend exports it.
    """

    case: str
    cell: str
    frontend: str
    target: str
    device: str = "cpu"
    export: str = PLAIN

    def __str__(self) -> str:
        words = [self.cell, self.case, self.frontend, self.target, self.device]
        return "/".join(words if self.export == PLAIN else [*words, self.export])


def ways(frontends: Sequence[str], exports: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each frontend with each export that it has: the ts frontend has none but the plain one."""
    return (
        (frontend, export)
        for frontend in frontends
        for export in exports
        if frontend == "pt2" or export == PLAIN
    )


Seconds = Annotated[float, msgspec.Meta(ge=0, le=1e7)]
"""A file with other times is damaged: sums, charts and medians of them would mean nothing."""


class Result(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What a trial came to.

    `stage` is where it ended (None when it passed), `diagnostic` the text that tells why, in the
    words of what refused or failed; `seconds` the time of each stage that was reached; `attempts`
    counts infrastructure faults (a dead runner) too; `peak_mb` is the trial's own peak resident
    memory; `graph` the `.pnnx.param` that it converted to, compressed by zlib, where the other
    frontend's is compared with it; `rules` what a pt2 trial's conversion went through, as
    `converter.rules` names it.
    """

    trial: Trial
    outcome: Outcome
    stage: Stage | None = None
    diagnostic: str = ""
    seconds: dict[Stage, Seconds] = {}
    attempts: Annotated[int, msgspec.Meta(ge=1)] = 1
    peak_mb: Annotated[float, msgspec.Meta(ge=0)] | None = None
    graph: bytes = b""
    rules: tuple[str, ...] = ()

    @property
    def total(self) -> float:
        """Seconds over all stages."""
        return sum(self.seconds.values())
