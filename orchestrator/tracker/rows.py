"""What the tracker must say: each API that a case proves, and how far, in the reference cell."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from orchestrator.cells import Cell, reference
from orchestrator.expectations import Facts, Table
from orchestrator.tracker.apis import SECTIONS, section
from suites.registry import CaseInfo
from suites.trial import Trial

REFERENCE_PLATFORM = "linux"
COLUMNS = {
    "ts": (("ts", "pnnx"),),
    "pt2": (("pt2", "pnnx"),),
    "ncnn": (("ts", "ncnn"), ("pt2", "ncnn")),
}
"""The tracker's columns, and the frontends and targets whose trials they speak of."""


class Row(NamedTuple):
    """An API and, by column, why it is not proven; a column without a reason says Yes."""

    api: str
    against: Mapping[str, str]

    @property
    def cells(self) -> tuple[str, ...]:
        return tuple("No" if column in self.against else "Yes" for column in COLUMNS)


def rows(cases: Iterable[CaseInfo], table: Table, cells: Mapping[str, Cell]) -> dict[str, Row]:
    """The row of every API, in the tracker's order.

    Raises CellError where no cell, or more than one, is the reference.
    """
    proofs: dict[str, list[CaseInfo]] = defaultdict(list)
    for case in cases:
        for api in case.proves:
            proofs[api].append(case)
    against = _Against(reference(cells), table)
    order = list(SECTIONS)
    ranked = sorted(proofs, key=lambda api: (order.index(section(api)), api))
    return {
        api: Row(
            api,
            {name: why for name, ways in COLUMNS.items() if (why := against(proofs[api], ways))},
        )
        for api in ranked
    }


class _Against:
    """Finds why the trials of an API's cases do not prove it; an empty text where they do."""

    def __init__(self, cell: Cell, table: Table) -> None:
        pinned = Facts.pinned(cell)
        self.facts = Facts(pinned.packages, pinned.markers | {"platform": REFERENCE_PLATFORM})
        self.cell = cell
        self.table = table

    def __call__(self, cases: Iterable[CaseInfo], ways: Iterable[tuple[str, str]]) -> str:
        return next((why for case in cases for way in ways if (why := self._one(case, *way))), "")

    def _one(self, case: CaseInfo, frontend: str, target: str) -> str:
        if target not in case.targets:
            return f"{case.name} does not run on {target}"
        if lacking := self.cell.lacks(case.needs):
            return f"{self.cell.name} lacks {' and '.join(lacking)} for {case.name}"
        entry = self.table.match(Trial(case.name, self.cell.name, frontend, target), self.facts)
        return f"{entry.place} expects that {case.name} is {entry.outcome}" if entry else ""
