"""Read the tables under suites/expectations/: strict, and every error with its file and line."""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import msgspec

from orchestrator.cells import Cell
from orchestrator.errors import nearest
from orchestrator.expectations.errors import TableError
from orchestrator.expectations.facts import Facts
from orchestrator.expectations.toml_lines import Lines
from orchestrator.expectations.when import When, WhenError, hold
from suites.trial import FRONTENDS, TARGETS, Outcome, Stage, Trial

REQUIRED = ("case", "frontend", "target", "when", "outcome", "stage", "diagnostic", "reason")
KEYS = (*REQUIRED, "link")

#: What an entry may say; a trial is expected to pass where no entry speaks.
WORDS: dict[str, tuple[str, ...]] = {
    "frontend": FRONTENDS,
    "target": TARGETS,
    "outcome": tuple(o for o in Outcome if o is not Outcome.passed),
    "stage": tuple(Stage),
}


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
    file: Path
    line: int
    condition: When

    @property
    def place(self) -> str:
        """`FILE:LINE`, as errors and reports name the entry."""
        return f"{self.file}:{self.line}"


class Table:
    """All expectations, found by trial."""

    def __init__(self, entries: Iterable[Expectation]) -> None:
        self.entries = tuple(entries)
        self._groups: dict[tuple[str, str, str], list[Expectation]] = defaultdict(list)
        for entry in self.entries:
            self._groups[entry.case, entry.frontend, entry.target].append(entry)

    def match(self, trial: Trial, facts: Facts) -> Expectation | None:
        """The entry that speaks of a trial in a cell of these facts.

        Raises TableError where two do: `load_tables` has ruled that out for the cells of envs/ as
        pinned, not for an environment that differs from them.
        """
        facts = facts.on(trial.device)
        group = self._groups.get((trial.case, trial.frontend, trial.target), ())
        matching = [entry for entry in group if hold([entry.condition], facts)]
        if len(matching) > 1:
            raise _overlap(matching[0], matching[1], trial.cell)
        return matching[0] if matching else None

    def check_overlaps(self, cells: Mapping[str, Facts]) -> None:
        """Raise TableError where two entries can speak of one trial in a cell."""
        for group in self._groups.values():
            for first, second in combinations(group, 2):
                for cell, facts in cells.items():
                    if hold([first.condition, second.condition], facts):
                        raise _overlap(first, second, cell)

    def unreachable(self, cells: Mapping[str, Facts]) -> list[Expectation]:
        """The entries whose `when` no cell meets."""
        return [
            entry
            for entry in self.entries
            if not any(hold([entry.condition], facts) for facts in cells.values())
        ]


def _overlap(first: Expectation, second: Expectation, cell: str) -> TableError:
    return TableError(
        second.file,
        second.line,
        f"overlaps with {first.place} in cell {cell}: both speak of"
        f" {second.case}/{second.frontend}/{second.target}",
        "narrow one `when`",
    )


def load_tables(folder: Path, cases: Collection[str], cells: Mapping[str, Cell]) -> Table:
    """Every `*.toml` of a folder as one table.

    `cases` are the names of all cases and `cells` all cells of envs/, not a selection: an entry
    must be right wherever it is read. Raises TableError.
    """
    pinned = {name: Facts.pinned(cell) for name, cell in cells.items()}
    packages = {package for facts in pinned.values() for package in facts.packages}
    table = Table(
        entry
        for file in sorted(folder.glob("*.toml"))
        for entry in _Reader(file, cases, packages).entries()
    )
    table.check_overlaps(pinned)
    return table


class _Reader:
    """One file: its text, its lines, and the checks of its entries."""

    def __init__(self, file: Path, cases: Collection[str], packages: Collection[str]) -> None:
        self.file = file
        self.cases = cases
        self.packages = packages

    def entries(self) -> Iterable[Expectation]:
        tables = self._parse()
        return [self._entry(number, fields) for number, fields in enumerate(tables)]

    def _parse(self) -> list[dict[str, Any]]:
        data = self.file.read_bytes()
        try:
            text = data.decode().replace("\r\n", "\n")
            document = tomllib.loads(text)
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise TableError(self.file, line, "not UTF-8 text", "save it as UTF-8") from None
        except tomllib.TOMLDecodeError as error:
            place = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)", str(error))
            line = int(place[1]) if place and place[1] else text.rstrip("\n").count("\n") + 1
            what = str(error)[: place.start()] if place else str(error)
            raise TableError(self.file, line, f"not TOML: {what}", "mend its syntax") from None
        self.lines = Lines(text, "expect")
        tables = document.pop("expect", [])
        if self.lines.foreign or document or len(tables) != len(self.lines):
            raise TableError(
                self.file,
                self.lines.foreign or 1,
                "not an [[expect]] entry",
                "write nothing but entries, each below its own [[expect]]",
            )
        return tables  # type: ignore[no-any-return]  # as many tables as headers

    def _error(self, number: int, key: str, message: str, mend: str) -> TableError:
        return TableError(self.file, self.lines.of(number, key), message, mend)

    def _entry(self, number: int, fields: dict[str, Any]) -> Expectation:
        for key in fields:
            if key not in KEYS:
                raise self._error(number, key, f"unknown key `{key}`", nearest(key, KEYS))
        for key in REQUIRED:
            if key not in fields:
                raise self._error(number, "", f"`{key}` is missing", f"add `{key} = …`")
        for key, value in fields.items():
            if not isinstance(value, str) or not value.strip():
                raise self._error(number, key, f"`{key}` is no text or empty", "write a text")
        for key, words in WORDS.items():
            if fields[key] not in words:
                message = f"`{key}` is `{fields[key]}`"
                raise self._error(number, key, message, f"write one of {', '.join(words)}")
        if fields["case"] not in self.cases:
            message = f"there is no case `{fields['case']}`"
            raise self._error(number, "case", message, nearest(fields["case"], self.cases))
        try:
            condition = When.parse(fields["when"], self.packages)
        except WhenError as error:
            raise self._error(number, "when", str(error), error.mend) from None
        typed = {"outcome": Outcome(fields["outcome"]), "stage": Stage(fields["stage"])}
        place = {"file": self.file, "line": self.lines.of(number), "condition": condition}
        return Expectation(**(fields | typed | place))
