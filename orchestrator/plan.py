"""Which trials a run is to do: a selection of the cases, spread over the cells."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from orchestrator import expression
from orchestrator.cells import Cell, CellError
from orchestrator.errors import UsageError, nearest
from suites.registry import CaseInfo
from suites.trial import FRONTENDS, PLAIN, TARGETS, Trial, ways

TYPICAL = 0.3
"""Seconds that a trial is taken for when none is recorded."""


@dataclass(frozen=True)
class Selection:
    """What the user asks for, beside suites: those are found by the registry."""

    cells: Sequence[Cell]
    every_cell: bool = False
    """Run a case in every cell that has what it needs, not only in the first."""
    keyword: str = ""
    names: Sequence[str] = ()
    """Whole names of cases; none are all of them."""
    frontends: Sequence[str] = FRONTENDS
    targets: Sequence[str] = TARGETS
    devices: Sequence[str] = ("cpu",)
    exports: Sequence[str] = (PLAIN,)


@dataclass(frozen=True)
class Planned:
    """Trials that are run together, as they differ in their targets alone.

    `limit` are the seconds after which each is killed, `seconds` those that they are thought to
    take together.
    """

    trials: tuple[Trial, ...]
    limit: float
    seconds: float = TYPICAL

    @property
    def cell(self) -> str:
        return self.trials[0].cell

    @property
    def device(self) -> str:
        return self.trials[0].device


def select(cases: Sequence[CaseInfo], text: str = "", names: Sequence[str] = ()) -> list[CaseInfo]:
    """Return the cases that `-k TEXT` and `--case NAME` select.

    Raises UsageError if there is none, or none of a name.
    """
    known = [case.name for case in cases]
    for name in names:
        if name not in known:
            raise UsageError(f"--case {name}: there is no such case; {nearest(name, known)}")
    match = expression.parse(text) if text else bool
    chosen = [case for case in cases if match(case.name) and (not names or case.name in names)]
    if not chosen:
        raise UsageError(f"-k {text!r} matches no case; {nearest(text, known)}")
    return chosen


def spread(selection: Selection, cases: Iterable[CaseInfo]) -> tuple[list[Trial], list[str]]:
    """Give the selected cases to cells; return the trials, and remarks on what has none.

    Raises UsageError if there is no trial in any cell.
    """
    if not any(ways(selection.frontends, selection.exports)):
        raise UsageError(
            f"the ts frontend has no export {' or '.join(selection.exports)}; drop one"
        )
    trials: list[Trial] = []
    homeless: dict[str, list[str]] = {}
    for case in select(list(cases), selection.keyword, selection.names):
        homes = [cell for cell in selection.cells if able(cell, case)]
        for cell in homes if selection.every_cell else homes[:1]:
            trials += [
                Trial(case.name, cell.name, frontend, target, device, export)
                for frontend, export in ways(selection.frontends, selection.exports)
                for target in selection.targets
                for device in selection.devices
                if target in case.targets and device in case.devices
            ]
        if not homes:
            homeless.setdefault(_lack(selection.cells, case), []).append(case.name)
    notes = [_remark(names, lack) for lack, names in homeless.items()]
    if not trials:
        why = "; ".join(notes) or (
            f"no selected case has target {' or '.join(selection.targets)}"
            f" on {' or '.join(selection.devices)}"
        )
        raise UsageError(f"nothing to run in {_names(selection.cells)}: {why}")
    used = {trial.cell for trial in trials}
    notes += [
        f"cell {cell.name}: nothing of this selection is left for it; each case runs in the first"
        " named cell that has what it needs, or in each with --every-cell"
        for cell in selection.cells
        if cell.name not in used
    ]
    return trials, notes


def plan(
    trials: Iterable[Trial],
    cases: Mapping[str, CaseInfo],
    durations: Mapping[str, float],
    limit: float | None = None,
) -> list[Planned]:
    """Put together trials that differ in their targets alone, and order what that makes, longest
    first, by the recorded seconds of `str(trial)`.

    `limit` stands in for the cases' own. Raises UsageError for a case that does not exist.
    """
    together: dict[Trial, list[Trial]] = defaultdict(list)
    for trial in trials:
        case = cases.get(trial.case)
        if case is None:
            raise UsageError(f"there is no case {trial.case!r}; {nearest(trial.case, cases)}")
        together[msgspec.structs.replace(trial, target="")].append(trial)
    planned = [
        Planned(
            tuple(sorted(each, key=lambda trial: TARGETS.index(trial.target))),
            limit or cases[first.case].limit,
            sum(durations.get(str(trial), TYPICAL) for trial in each),
        )
        for first, each in together.items()
    ]
    # Of trials of unknown length, those that may take long come first.
    return sorted(planned, key=lambda each: (-each.seconds, -each.limit, each.trials))


def check_suites(cells: Iterable[Cell], suites: Collection[str]) -> None:
    """Raise CellError for a cell that covers a suite, or a file of one, which does not exist."""
    for cell in cells:
        for suite in cell.suites or ():
            if suite not in suites:
                raise CellError(
                    f"{cell.file}: suites has {suite!r}, which does not exist;"
                    f" {nearest(suite, suites)}"
                )


def able(cell: Cell, case: CaseInfo) -> bool:
    """Whether a cell runs a case: it covers the suite and has what the case needs."""
    return cell.covers(case.parts) and not cell.lacks(case.needs)


def _lack(cells: Sequence[Cell], case: CaseInfo) -> str:
    """Say why no cell runs a case: by the cell that comes nearest."""
    covering = [cell for cell in cells if cell.covers(case.parts)]
    if not covering:
        return f"suite {case.suite}, which {_names(cells)} does not cover"
    least = min((cell.lacks(case.needs) for cell in covering), key=len)
    return " and ".join(least)


def _remark(names: Sequence[str], lack: str) -> str:
    shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    return f"not run: {shown}: no named cell has {lack}"


def _names(cells: Iterable[Cell]) -> str:
    return ", ".join(cell.name for cell in cells)
