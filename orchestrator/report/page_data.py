"""What the scripts of `index.html` read: the trials and their diagnostics, as JSON in the page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from markupsafe import Markup

from orchestrator.report.differences import PACKAGES
from orchestrator.report.model import Cell, Missing, Report, Row
from orchestrator.report.text import LIMIT, cut
from suites.registry import ON_REQUEST
from suites.trial import DEVICES, EXPORTS, FRONTENDS, TARGETS, Outcome, Stage

BUDGET = 600_000
"""Bytes of all diagnostics in the page: the whole page is to stay below 2 MB."""

GLYPHS = {
    Outcome.passed: "✓",
    Outcome.failed: "✕",
    Outcome.crashed: "!",
    Outcome.timed_out: "…",
    Outcome.skipped: "–",
}
"""What an outcome looks like without colour; plain signs that every font has."""

NAMED = (
    *("case", "suite", "cell", "frontend", "export", "target", "device"),
    *("outcome", "stage", "verdict", "why", "expectation", "link", "run"),
)
"""The fields of a row that hold one of a few texts; the page has a number for each."""


MISSING = {"outcome": "no result", "verdict": "missing"}
"""What stands in these fields of a trial without a result."""


def embed(data: Any) -> Markup:
    """Data as JSON that stands in a script element and cannot end it."""
    text = msgspec.json.encode(data).decode()
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)


def page_data(report: Report) -> dict[str, Any]:
    """`rows` hold the NAMED fields as numbers into `names`, then the rest of `fields`; so do those
    of `missing`."""
    names: dict[str, dict[str, int]] = {field: {} for field in NAMED}

    def numbers(row: Row | Missing) -> Iterator[int]:
        for field, texts in names.items():
            text = getattr(row, field, "") or ""
            if isinstance(row, Missing):
                text = row.cause if field == "why" else MISSING.get(field, text)
            yield texts.setdefault(text, len(texts))

    rows = [
        [
            *numbers(row),
            row.diagnostic,
            _milliseconds(row),
            row.attempts,
            row.peak_mb and round(row.peak_mb),
        ]
        for row in report.rows
    ]
    missing: list[list[Any]] = [[*numbers(trial), None, [], 0, None] for trial in report.missing]
    return {
        "fields": [*NAMED, "diagnostic", "times", "attempts", "peak"],
        "names": {field: list(texts) for field, texts in names.items()},
        "rows": rows,
        "missing": missing,
        "diagnostics": _within(report.diagnostics, BUDGET),
        "order": {
            "frontend": FRONTENDS,
            "export": EXPORTS,
            "target": TARGETS,
            "device": DEVICES,
        },
        "onRequest": sorted(ON_REQUEST),
        "stages": list(Stage),
        "glyphs": {**GLYPHS, MISSING["outcome"]: "?"},
        "versions": {cell.label: _versions(cell) for cell in report.cells},
    }


def _milliseconds(row: Row) -> list[float | None]:
    """The time of each stage, in their order; None for one that was not reached."""
    return [
        round(row.seconds[stage] * 1000, 1) if stage in row.seconds else None for stage in Stage
    ]


def _within(texts: list[str], budget: int) -> list[str]:
    """The texts, cut shorter and shorter until all together fit."""
    limit = LIMIT
    while sum(len(embed(text).encode()) for text in texts) > budget and limit > 32:
        limit //= 2
        texts = [cut(text, limit) for text in texts]
    return texts


def _versions(cell: Cell) -> dict[str, str]:
    """What tells cells apart: Python, machine, packages of note, variables."""
    if cell.record is None:
        return {}
    record = cell.record
    found = {"python": record.python, "platform": f"{record.platform} {record.machine}".strip()}
    found |= {name: record.packages[name] for name in PACKAGES if name in record.packages}
    if record.threads is not None:  # else no runner was started there
        found["threads"] = str(record.threads)
    return found | record.env


def facts(cells: list[Cell]) -> dict[str, list[str]]:
    """The versions of all cells, fact by fact; a dash where a cell lacks it."""
    versions = [_versions(cell) for cell in cells]
    first = ("python", "platform", *PACKAGES, "threads")
    present = {fact for each in versions for fact in each}
    names = [fact for fact in first if fact in present] + sorted(present - {*first})
    return {fact: [each.get(fact, "–") for each in versions] for fact in names}
