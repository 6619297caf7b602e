"""The expectations of all tables as one, found by trial."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from pathlib import Path

import msgspec

from orchestrator.expectations.errors import TableError
from orchestrator.expectations.facts import Facts
from orchestrator.expectations.when import When, hold
from suites.trial import Outcome, Stage, Trial


class Expectation(msgspec.Struct, frozen=True, kw_only=True):
    """One [[expect]] entry: the outcome, stage and diagnostic that a trial must show, and why."""

    case: str
    frontend: str
    target: str
    when: str
    outcome: Outcome
    stage: Stage
    diagnostic: str
    reason: str
    link: str = ""
    file: str
    line: int
    condition: When

    @property
    def place(self) -> str:
        """`FILE:LINE`, as errors and reports name the entry."""
        return f"{self.file}:{self.line}"


class Table:
    """Expectations by the case, frontend and target that they speak of."""

    def __init__(self, entries: Iterable[Expectation]) -> None:
        self.entries = tuple(entries)
        self._groups: dict[tuple[str, str, str], list[Expectation]] = defaultdict(list)
        for entry in self.entries:
            self._groups[entry.case, entry.frontend, entry.target].append(entry)

    def match(self, trial: Trial, facts: Facts) -> Expectation | None:
        """The entry that speaks of a trial in a cell of these facts.

        Raises TableError where two do: `load_tables` has ruled that out for the cells of envs/ as
        pinned, not for an environment that differs from its pins.
        """
        facts = facts.of(trial)
        group = self._groups.get((trial.case, trial.frontend, trial.target), ())
        matching = [entry for entry in group if hold([entry.condition], facts)]
        if len(matching) > 1:
            raise _overlap(matching[0], matching[1], trial.cell)
        return matching[0] if matching else None

    def overlaps(self, cells: Mapping[str, Facts]) -> Iterator[TableError]:
        """A fault for each two entries that can speak of one trial in a cell."""
        for group in self._groups.values():
            for first, second in combinations(group, 2):
                for cell, facts in cells.items():
                    if hold([first.condition, second.condition], facts):
                        yield _overlap(first, second, cell)
                        break


def _overlap(first: Expectation, second: Expectation, cell: str) -> TableError:
    return TableError(
        Path(second.file),
        second.line,
        f"overlaps with {first.place} in cell {cell}: both speak of"
        f" {second.case}/{second.frontend}/{second.target}",
        "narrow one `when`",
    )
