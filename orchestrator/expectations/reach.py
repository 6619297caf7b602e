"""Entries that no trial can ever meet: they look like knowledge, and nothing checks them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from orchestrator.cells import Cell
from orchestrator.expectations.facts import Facts
from orchestrator.expectations.table import Expectation, Table
from orchestrator.expectations.when import hold
from orchestrator.plan import able
from suites.registry import CaseInfo
from suites.trial import EXPORTS, Trial, ways


def unreachable(
    table: Table, cells: Collection[Cell], cases: Mapping[str, CaseInfo]
) -> Iterator[tuple[Expectation, str]]:
    """The entries that speak of no trial that any cell can run, each with why that is."""
    for entry in table.entries:
        case = cases[entry.case]
        homes = [cell for cell in cells if able(cell, case)]
        if entry.target not in case.targets:
            yield entry, f"{case.name} has no target {entry.target}"
        elif not homes:
            yield entry, f"no cell of envs/ can run {case.name}"
        elif not any(_meets(entry, case, cell) for cell in homes):
            names = ", ".join(cell.name for cell in homes)
            yield entry, f"`{entry.when}` holds in no cell that can run {case.name}: {names}"


def _meets(entry: Expectation, case: CaseInfo, cell: Cell) -> bool:
    facts = Facts.pinned(cell)
    return any(
        hold([entry.condition], facts.of(trial))
        for frontend, export in ways([entry.frontend], EXPORTS)
        for device in case.devices
        for trial in [Trial(case.name, cell.name, frontend, entry.target, device, export)]
    )
