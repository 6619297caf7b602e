"""`index.html`: the whole report in one file that needs no network.

The lists that are looked at first are plain HTML from the templates; the matrix and the detail of a
trial are made by `templates/report.js` from JSON in the page. A browser runs only that script: the
page's policy names its hash.
"""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from typing import Any

import msgspec
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from orchestrator.report.differences import PACKAGES
from orchestrator.report.headline import count, counts, headline
from orchestrator.report.model import Cell, Report, Row
from orchestrator.report.text import LIMIT, cut, first_line
from suites.trial import DEVICES, FRONTENDS, TARGETS, Outcome, Stage

TEMPLATES = Path(__file__).parent / "templates"

BUDGET = 600_000
"""Bytes of all diagnostics in the page: the whole page is to stay below 2 MB."""

MOST = {"attention": 80, "differences": 80, "clusters": 60, "examples": 20, "slowest": 15}
"""How long the lists are; the matrix and report.json have everything."""

GLYPHS = {
    Outcome.passed: "✓",
    Outcome.failed: "✕",
    Outcome.crashed: "!",
    Outcome.timed_out: "…",
    Outcome.skipped: "–",
}
"""What an outcome looks like without colour; plain signs that every font has."""


def page(report: Report) -> str:
    """The report as HTML."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"first_line": first_line}
    script = (TEMPLATES / "report.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return environment.get_template("report.html.j2").render(
        report=report,
        headline=headline(report),
        counts=counts(report),
        count=count,
        glyphs=GLYPHS,
        most=MOST,
        facts=_facts(report.cells),
        data=embed(_data(report)),
        style=Markup((TEMPLATES / "report.css").read_text(encoding="utf-8")),
        script=Markup(script),
        digest=digest,
    )


def embed(data: Any) -> Markup:
    """Data as JSON that stands in a script element and cannot end it."""
    text = msgspec.json.encode(data).decode()
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)


NAMED = (
    *("case", "suite", "cell", "frontend", "target", "device"),
    *("outcome", "stage", "verdict", "why", "expectation", "link", "run"),
)
"""The fields of a row that hold one of a few texts; the page has a number for each."""


def _data(report: Report) -> dict[str, Any]:
    """What report.js reads: `rows` hold the NAMED fields as numbers into `names`, then the rest."""
    names: dict[str, dict[str, int]] = {field: {} for field in NAMED}

    def number(row: Row, field: str) -> int:
        texts = names[field]
        return texts.setdefault(getattr(row, field) or "", len(texts))

    rows = [
        [
            *(number(row, field) for field in NAMED),
            row.diagnostic,
            _milliseconds(row),
            row.attempts,
            row.peak_mb and round(row.peak_mb),
        ]
        for row in report.rows
    ]
    return {
        "fields": [*NAMED, "diagnostic", "times", "attempts", "peak"],
        "names": {field: list(texts) for field, texts in names.items()},
        "rows": rows,
        "missing": report.missing,
        "diagnostics": _within(report.diagnostics, BUDGET),
        "order": {"frontend": FRONTENDS, "target": TARGETS, "device": DEVICES},
        "stages": list(Stage),
        "glyphs": GLYPHS,
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
    while sum(len(msgspec.json.encode(text)) for text in texts) > budget and limit > 32:
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
    return found | {"threads": str(record.threads)} | record.env


def _facts(cells: list[Cell]) -> dict[str, list[str]]:
    """The versions of all cells, fact by fact; a dash where a cell lacks it."""
    versions = [_versions(cell) for cell in cells]
    first = ("python", "platform", *PACKAGES, "threads")
    present = {fact for each in versions for fact in each}
    facts = [fact for fact in first if fact in present] + sorted(present - {*first})
    return {fact: [each.get(fact, "–") for each in versions] for fact in facts}
