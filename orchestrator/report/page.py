"""`index.html`: the whole report in one file that needs no network.

The lists that are looked at first are plain HTML, a template for each section; the matrix and the
detail of a trial are made by the scripts of `templates/script` from JSON in the page (`page_data`).
A browser runs only those: the page's policy names their hash.
"""

from __future__ import annotations

import base64
import hashlib
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from orchestrator.report.differences import worst
from orchestrator.report.headline import UNSAID, count, counts, headline
from orchestrator.report.model import (
    Change,
    Changes,
    Difference,
    Report,
    Side,
    Structure,
    Unlike,
)
from orchestrator.report.page_data import GLYPHS, embed, facts, page_data
from orchestrator.report.text import gist
from orchestrator.report.trend import percent, trend
from suites.trial import Outcome

TEMPLATES = Path(__file__).parent / "templates"
STYLES = ("colours", "page", "lists", "tables", "trend", "matrix", "detail", "narrow", "print")
SCRIPTS = ("data", "address", "matrix", "detail", "start")
"""In the order in which they stand in the page."""

MOST = {
    "first": 8,
    "attention": 80,
    "differences": 120,
    "clusters": 60,
    "examples": 20,
    "slowest": 15,
    "changes": 50,
    "unlike": 80,
    "graphs": 12,
}
"""How long the lists are; the matrix and report.json have everything."""

SIGNS = {0: "✓", 1: "✕", 3: "!"}
"""What the exit status looks like."""


def page(report: Report) -> str:
    """The report as HTML."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"gist": gist}
    script = _joined("script", SCRIPTS, ".js")
    return environment.get_template("page.html.j2").render(
        report=report,
        sections=list(_sections(report)),
        headline=headline(report),
        counts=counts(report),
        count=count,
        unsaid=UNSAID,
        signs=SIGNS,
        glyphs=GLYPHS,
        most=MOST,
        divisions=_divisions(report),
        telling=lambda sides: _telling(report, sides),
        short_paths=short_paths,
        percent=percent,
        changed=_changed(report.changes),
        alike=lambda changes: _alike(report, changes),
        trend=trend(report.trend),
        unlike=_unlike(report.structure),
        facts=facts(report.cells),
        data=embed(page_data(report)),
        style=Markup(_joined("style", STYLES, ".css")),
        script=Markup(script),
        digest=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )


def _joined(folder: str, names: Iterable[str], ending: str) -> str:
    files = [TEMPLATES / folder / f"{name}{ending}" for name in names]
    return "\n".join(file.read_text(encoding="utf-8") for file in files)


class Section(NamedTuple):
    """A part of the page, made by `templates/sections/NAME.html.j2`."""

    name: str
    """Its anchor, too."""
    link: str
    """What leads to it."""
    title: str
    number: int | None = None
    """How many things it tells of."""


def _sections(report: Report) -> Iterator[Section]:
    """Those that have something to tell, in the order in which one asks: is all as expected, what
    differs between cells, what changed, what is to be looked at first; then everything."""
    if report.missing:
        yield Section("missing", "Missing", "Without a result", len(report.missing))
    if report.differences:
        yield Section(
            "differences", "Differences", "Differences between cells", len(report.differences)
        )
    yield Section("changes", "Changes", "Changes since the previous run", _changed(report.changes))
    if report.attention:
        yield Section("attention", "Look first", "Look first", len(report.attention))
    if report.clusters:
        yield Section("clusters", "Clusters", "Failure clusters", len(report.clusters))
    yield Section("matrix", "Matrix", "Matrix", len(report.rows))
    if report.structure.total.compared:
        yield Section("structure", "Structure", "Structural parity")
    yield Section("slowest", "Slowest", "Slowest trials")
    yield Section("environment", "Environment", "Environment")


def _changed(changes: Changes) -> int:
    others = len(changes.failing) + len(changes.fixed) + len(changes.reworded)
    return others + len(changes.slower) + len(changes.flaky)


def _divisions(report: Report) -> list[list[Difference]]:
    """The differences by how they divide the cells: what came out where, told once for all that
    are alike in that; those with the worst verdict first, then the most."""
    alike: dict[Hashable, list[Difference]] = defaultdict(list)
    for difference in report.differences[: MOST["differences"]]:
        sides = [
            (*side.cells, report.rows[side.rows[0]].what, *side.where) for side in difference.sides
        ]
        alike[tuple(sides)].append(difference)
    # They come in the order of their verdicts: the first of each division has the worst.
    return sorted(alike.values(), key=lambda found: (worst(found[0], report.rows), -len(found)))


def _telling(report: Report, sides: list[Side]) -> list[Side]:
    """The sides that say how a case fares in the cells: those that did not pass, and the one that
    did where only its versions are known."""
    failing = [side for side in sides if report.rows[side.rows[0]].outcome is not Outcome.passed]
    if any(side.where for side in failing):
        return failing
    return failing + [side for side in sides if side.where and side not in failing]


def short_paths(paths: Iterable[str]) -> list[str]:
    """`ts, pt2 → pnnx, ncnn` for the four of them: targets that are reached from the same frontends
    share a line."""
    sources: dict[str, list[str]] = defaultdict(list)
    for source, _, target in (path.partition(" → ") for path in paths):
        sources[target].append(source)
    targets: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for target, names in sources.items():
        targets[tuple(names)].append(target)
    return [f"{', '.join(names)} → {', '.join(reached)}" for names, reached in targets.items()]


def _alike(report: Report, changes: Iterable[Change]) -> list[tuple[Change, list[int]]]:
    """The changes of each case from the same to the same with one verdict, with all their rows."""
    rows: dict[Hashable, tuple[Change, list[int]]] = {}
    for change in changes:
        row = report.rows[change.row]
        key = (row.case, row.what, row.verdict, change.what, change.run)
        rows.setdefault(key, (change, []))[1].append(change.row)
    return list(rows.values())


def _unlike(structure: Structure) -> list[tuple[Unlike, list[str]]]:
    """The cases whose graphs differ, with the cells in which they do so in the same way."""
    cells: dict[Hashable, tuple[Unlike, list[str]]] = {}
    for each in structure.unlike:
        key = (each.case, *each.differences, *each.unreviewed)
        cells.setdefault(key, (each, []))[1].append(each.cell)
    return list(cells.values())
