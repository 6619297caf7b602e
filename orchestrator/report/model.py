"""A report as plain data: `report.json` is exactly this, and every other form is written from it.

The text in it is untrusted but visible (`text.visible`): no control characters are left.
"""

from __future__ import annotations

import datetime
import shlex
from collections import defaultdict
from collections.abc import Iterable

import msgspec

from orchestrator.expectations import Verdict
from orchestrator.record import CellRecord
from orchestrator.spelling import NAME
from suites.registry import ON_REQUEST
from suites.trial import PLAIN, Outcome, Stage, Trial

SCHEMA = 1
"""The version of report.json; it changes when a field changes its meaning or goes."""


class Run(msgspec.Struct, kw_only=True):
    """A run that the report is made of."""

    run: str
    started: datetime.datetime
    finished: datetime.datetime | None
    command: list[str]
    commit: str
    versions: dict[str, str]
    cpu: str
    cores: int
    workers: int
    seconds: dict[str, float]
    results: int
    """That it holds; newer runs may have replaced some."""


class Cell(msgspec.Struct, kw_only=True):
    """A column of the report: a cell, on one platform where the runs have it on several."""

    label: str
    """The cell's name, or `NAME@PLATFORM`."""
    name: str
    record: CellRecord | None
    """As the newest run found it; None where no runner came up."""


class Row(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A trial with its newest result and the verdict on it."""

    cell: str
    """The label of its `Cell`."""
    case: str
    suite: str
    frontend: str
    target: str
    device: str
    export: str = PLAIN
    run: str
    outcome: Outcome
    stage: Stage | None = None
    diagnostic: int | None = None
    """Where its text stands in `Report.diagnostics`."""
    verdict: Verdict
    why: str = ""
    expectation: str = ""
    """`FILE:LINE` of the entry that took part."""
    link: str = ""
    seconds: dict[str, float] = {}
    attempts: int = 1
    peak_mb: float | None = None

    @property
    def path(self) -> str:
        return path(self)

    @property
    def total(self) -> float:
        return sum(self.seconds.values())

    @property
    def what(self) -> str:
        return what(self.outcome, self.stage)

    @property
    def again(self) -> list[str]:
        """The words of the command that runs this trial again."""
        cell = self.cell.partition("@")[0]
        words = ["run", "--cell", cell, "--case", self.case, "--frontend", self.frontend]
        words += ["--target", self.target, "--device", self.device]
        if self.export != PLAIN:
            words += ["--export", self.export]
        if self.suite in ON_REQUEST:
            words += ["--suite", self.suite]
        return words

    @property
    def command(self) -> str:
        """The command that runs this trial again, for readers elsewhere."""
        return shlex.join([NAME, *self.again])


def path(trial: Row | Missing | Trial) -> str:
    """`ts → pnnx`, `pt2 strict → ncnn on cuda`."""
    export = "" if trial.export == PLAIN else f" {trial.export}"
    device = "" if trial.device == "cpu" else f" on {trial.device}"
    return f"{trial.frontend}{export} → {trial.target}{device}"


def what(outcome: Outcome, stage: Stage | None) -> str:
    """`failed at export`, `timed out at infer`, `passed`."""
    words = outcome.replace("_", " ")
    return f"{words} at {stage}" if stage else words


class Missing(msgspec.Struct):
    """A planned trial without a result."""

    run: str
    """The newest that planned it."""
    cell: str
    case: str
    frontend: str
    target: str
    device: str
    export: str = PLAIN
    cause: str = ""
    """Why; empty where nobody could say, as the run was killed."""


class Group(msgspec.Struct, kw_only=True):
    """Rows that came to the same: outcome, stage and kind of diagnostic."""

    verdict: Verdict
    """The worst of its rows."""
    what: str
    pattern: str
    """The diagnostic's kind, with numbers and names taken out (`text.pattern`)."""
    rows: list[int]
    """Where they stand in `Report.rows`."""


class Side(msgspec.Struct, kw_only=True):
    """The cells in which a case came to the same, and what only they have in common."""

    cells: list[str]
    rows: list[int]
    """In these cells, in their order, by the first of the paths."""
    where: list[str]
    """Such as `torch ≥ 2.14.1`; empty where nothing that is known tells these cells apart."""


class Difference(msgspec.Struct, kw_only=True):
    """A case that came to different things in different cells, to the same ones by these paths."""

    case: str
    paths: list[str]
    sides: list[Side]
    """Most cells first."""


class Change(msgspec.Struct, kw_only=True):
    """A trial that came to something else than the last time that it was run."""

    row: int
    """Where it stands in `Report.rows`."""
    run: str
    """The earlier run."""
    what: str
    """What it came to there: `passed`, `failed at export`."""
    diagnostic: str
    """The first line of what it said there."""


class Slower(msgspec.Struct, kw_only=True):
    """A trial that passed, and took more than twice its usual time."""

    row: int
    usual: float
    """Seconds: the median of its last passes on this kind of machine."""


class Flaky(msgspec.Struct, kw_only=True):
    """A trial whose outcome went to and fro."""

    row: int
    record: list[Outcome]
    """Of its last runs, oldest first, this one last."""


class Changes(msgspec.Struct, kw_only=True):
    """What is other than the last time that each trial was run."""

    since: list[str] = []
    """The runs that were compared with, oldest first."""
    compared: int = 0
    """How many rows an earlier run has too."""
    pace: float = 1.0
    """The median of the times of the rows that passed, each as a multiple of its usual: above 1,
    the machine was slower, and `slower` means slower than that."""
    failing: list[Change] = []
    """Passed before, and do not now."""
    fixed: list[Change] = []
    reworded: list[Change] = []
    """Did not pass before either, but at another stage or with another kind of diagnostic."""
    slower: list[Slower] = []
    """The greatest loss of time first."""
    flaky: list[Flaky] = []


class Point(msgspec.Struct, kw_only=True):
    """A run in the trend, as far as it ran the trials of this report."""

    run: str
    started: datetime.datetime
    trials: int
    passed: int
    seconds: float
    """Of the trials that passed, each taken once."""


class Unlike(msgspec.Struct, kw_only=True):
    """A case of which the two frontends write different graphs in a cell."""

    case: str
    suite: str
    cell: str
    """The label of its `Cell`."""
    differences: list[str]
    """One line each: `only in ts: nn.Dropout p=5.0e-01 -> (1,16)f32`."""
    reasons: list[str]
    """Why that is right, from suites/structure.toml."""
    unreviewed: list[str]
    """The differences that no reason covers."""


class Share(msgspec.Struct, kw_only=True):
    """How many graphs are the same, of those that both frontends wrote."""

    same: int = 0
    compared: int = 0


class Structure(msgspec.Struct, kw_only=True):
    """Structural parity: the graph that pnnx makes of TorchScript against the converter's own."""

    total: Share = msgspec.field(default_factory=Share)
    suites: dict[str, Share] = {}
    unlike: list[Unlike] = []
    """Those with unreviewed differences first."""
    outdated: list[str] = []
    """What suites/structure.toml says of differences that are no longer there."""


class Report(msgspec.Struct, kw_only=True):
    schema: int = SCHEMA
    created: datetime.datetime
    status: int
    """The exit status: 0, 1 or 3."""
    verdicts: dict[Verdict, int]
    outcomes: dict[Outcome, int]
    runs: list[Run]
    """Oldest first."""
    cells: list[Cell]
    warnings: list[str]
    """What could not be read, or not whole."""
    conflicts: list[str]
    """What runs say differently of one cell."""
    rows: list[Row]
    """By case, frontend, target, device and cell."""
    missing: list[Missing]
    absent: list[str] = []
    """Cells that ought to be there, and of which no run was given."""
    diagnostics: list[str]
    attention: list[Group]
    """What is unexpected or stale, case by case; unexpected first, then the largest."""
    differences: list[Difference]
    clusters: list[Group]
    """Everything that did not pass, and every stale pass, whatever its case; largest first."""
    changes: Changes = msgspec.field(default_factory=Changes)
    trend: list[Point] = []
    """The last runs that are comparable with this report, oldest first; its own are among them."""
    structure: Structure = msgspec.field(default_factory=Structure)

    @property
    def title(self) -> str:
        return self.runs[0].run if len(self.runs) == 1 else f"{len(self.runs)} runs"

    def diagnostic(self, row: Row) -> str:
        return "" if row.diagnostic is None else self.diagnostics[row.diagnostic]

    def places(self, numbers: Iterable[int]) -> list[str]:
        """Where rows stand, in words: `ts → pnnx, pt2 → pnnx in torch213-tf5`."""
        cells: dict[str, list[str]] = defaultdict(list)
        for row in (self.rows[number] for number in numbers):
            cells[row.path].append(row.cell)
        paths: dict[tuple[str, ...], list[str]] = defaultdict(list)
        for path, names in cells.items():
            paths[tuple(dict.fromkeys(names))].append(path)
        every = f"all {len(self.cells)} cells" if len(self.cells) > 1 else ""
        return [
            f"{', '.join(same)} in "
            + (every if every and len(names) == len(self.cells) else ", ".join(names))
            for names, same in paths.items()
        ]

    def causes(self) -> dict[str, list[Missing]]:
        """What is missing, by cause; without a cause last."""
        causes: dict[str, list[Missing]] = defaultdict(list)
        for missing in sorted(self.missing, key=lambda each: not each.cause):
            causes[missing.cause].append(missing)
        return dict(causes)

    def slowest(self, count: int) -> list[Row]:
        return sorted(self.rows, key=lambda row: -row.total)[:count]


VERDICTS = (Verdict.unexpected, Verdict.stale, Verdict.expected, Verdict.ok)
"""Worst first."""
