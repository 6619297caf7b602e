"""Which trials fit into the budget: in the cells of transformers 4 and 5 that are built here."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import NamedTuple

from orchestrator.cells import ROOT, Cell, CellError
from orchestrator.plan import TYPICAL, able
from orchestrator.prepush.affected import Closeness, Route
from suites.registry import CaseInfo
from suites.trial import Trial

VERSIONS = ("transformers>=5", "transformers>=4,<5")
"""What a push is tested with: each case in one cell of each, if one has what it needs."""

START = 12.0
"""Seconds of a run besides its trials: Ray, the runners' imports, the report."""

HOPE = 0.7
"""Which part of the time that is left to fill: recorded times are of an idle machine."""


class Chosen(NamedTuple):
    """The trials to run, the closest first; how many were left out for want of time; and of the
    routes that no cell here has, the cases."""

    trials: list[Trial]
    late: list[Trial]
    homeless: list[str]


def wanted(cells: Iterable[Cell]) -> list[Cell]:
    """The cells that a push is best tested with: the smallest of each version of transformers."""
    groups = _by_version(cells)
    return [group[0] for group in groups if group]


def built(cells: Iterable[Cell]) -> list[list[Cell]]:
    """The cells of each version of transformers whose environment is in this checkout; those with
    less in them come first: they start sooner."""
    return [[cell for cell in group if _is_built(cell)] for group in _by_version(cells)]


def builds(cells: Iterable[Cell], cases: Iterable[CaseInfo]) -> list[str]:
    """The sessions that build what these cases need: of each, the smallest cell's."""
    own = [cell for group in _by_version(cells) for cell in group]
    homes = (next((cell for cell in own if able(cell, case)), None) for case in cases)
    return sorted({cell.session for cell in homes if cell})


def _by_version(cells: Iterable[Cell]) -> list[list[Cell]]:
    own = sorted(
        (cell for cell in cells if not cell.base), key=lambda cell: (len(cell.pins), cell.name)
    )
    return [[cell for cell in own if cell.has(version)] for version in VERSIONS]


def _is_built(cell: Cell) -> bool:
    try:
        cell.python_path(ROOT)
    except CellError:
        return False
    return True


def choose(
    routes: Mapping[Route, Closeness],
    cases: Mapping[str, CaseInfo],
    homes: Sequence[Sequence[Cell]],
    durations: Mapping[str, float],
    budget: float,
    workers: int,
) -> Chosen:
    """Give the routes to cells, the closest first, and then the shortest, as many as fit; one
    always does."""
    usual = _usual(durations)
    ranked: list[tuple[Closeness, float, Trial]] = []
    homeless = set()
    for route, closeness in routes.items():
        case = cases.get(route.case)
        if case is None or route.target not in case.targets:  # the push removes it
            continue
        cells = [next((cell for cell in group if able(cell, case)), None) for group in homes]
        for cell in filter(None, cells):
            trial = Trial(route.case, cell.name, route.frontend, route.target, export=route.export)
            seconds = durations.get(str(trial), usual.get(route, TYPICAL))
            ranked.append((closeness, seconds, trial))
        if not any(cells):
            homeless.add(route.case)
    ranked.sort()
    left = max(budget - START, 0.0) * workers * HOPE
    trials: list[Trial] = []
    late: list[Trial] = []
    for _, seconds, trial in ranked:
        if seconds <= left or not trials:
            trials.append(trial)
            left -= seconds
        else:
            late.append(trial)
    return Chosen(trials, late, sorted(homeless))


def _usual(durations: Mapping[str, float]) -> dict[Route, float]:
    """Of each route, in whatever cell it was recorded."""
    found: dict[Route, list[float]] = defaultdict(list)
    for name, seconds in durations.items():
        _, case, frontend, target, *others = name.split("/")
        found[Route(case, frontend, target, *others[1:])].append(seconds)
    return {route: median(times) for route, times in found.items()}
