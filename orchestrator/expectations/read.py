"""Read the tables under suites/expectations/: strict, and every error with its file and line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from orchestrator.cells import ROOT, Cell
from orchestrator.errors import nearest
from orchestrator.expectations.errors import TableError
from orchestrator.expectations.facts import Facts
from orchestrator.expectations.table import Expectation, Table
from orchestrator.expectations.toml_lines import Lines
from orchestrator.expectations.when import When, WhenError
from suites.trial import FRONTENDS, TARGETS, Outcome, Stage

REQUIRED = ("case", "frontend", "target", "when", "outcome", "stage", "diagnostic", "reason")
KEYS = (*REQUIRED, "link")

#: What an entry may say. A trial without an entry is expected to pass: `passed` is no word here.
WORDS: dict[str, tuple[str, ...]] = {
    "frontend": FRONTENDS,
    "target": TARGETS,
    "outcome": tuple(word for word in Outcome if word is not Outcome.passed),
    "stage": tuple(Stage),
}


def load_tables(folder: Path, cases: Collection[str], cells: Mapping[str, Cell]) -> Table:
    """Every `*.toml` of a folder as one table. Raises TableError for the first fault."""
    table, faults = read_tables(folder, cases, cells)
    if faults:
        raise faults[0]
    return table


def read_tables(
    folder: Path, cases: Collection[str], cells: Mapping[str, Cell]
) -> tuple[Table, list[TableError]]:
    """Every `*.toml` of a folder as one table of the entries that can be taken; and all faults.

    `cases` are the names of all cases and `cells` all cells of envs/, not a selection: an entry
    must be right wherever it is read.
    """
    pinned = {name: Facts.pinned(cell) for name, cell in cells.items()}
    packages = {package for facts in pinned.values() for package in facts.packages}
    entries: list[Expectation] = []
    faults: list[TableError] = []
    for file in sorted(folder.glob("*.toml")):
        try:
            reader = _Reader(file, cases, packages)
            for number, fields in enumerate(reader.tables()):
                try:
                    entries.append(reader.entry(number, fields))
                except TableError as fault:
                    faults.append(fault)
        except TableError as fault:  # of the file, not of one entry
            faults.append(fault)
    table = Table(entries)
    return table, [*faults, *table.overlaps(pinned)]


class _Reader:
    """One file: its text, its lines, and the checks of its entries."""

    def __init__(self, file: Path, cases: Collection[str], packages: Collection[str]) -> None:
        self.file = file
        self.name = file.relative_to(ROOT) if file.is_relative_to(ROOT) else file
        self.cases = cases
        self.packages = packages

    def tables(self) -> list[dict[str, Any]]:
        """The entries as they stand in the file. Raises TableError."""
        text = self._text()
        document = self._parse(text)
        self.lines = Lines(text, "expect")
        tables: list[dict[str, Any]] = document.pop("expect", [])
        entries = isinstance(tables, list) and len(tables) == len(self.lines)
        if document or self.lines.foreign or not entries:
            raise TableError(
                self.name,
                self.lines.foreign or 1,
                "something else than an [[expect]] entry",
                "write nothing but entries, each below its own [[expect]]",
            )
        return tables

    def _text(self) -> str:
        try:
            data = self.file.read_bytes()
        except OSError as error:
            raise TableError(self.name, 1, f"not readable: {error.strerror}", "mend it") from None
        try:
            return data.decode().replace("\r\n", "\n")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise TableError(self.name, line, "not UTF-8 text", "save it as UTF-8") from None

    def _parse(self, text: str) -> dict[str, Any]:
        try:
            return tomllib.loads(text)
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            what, _, place = str(error).partition(" (at ")
            at_line = re.match(r"line (\d+)", place)
            line = int(at_line[1]) if at_line else text.rstrip().count("\n") + 1
            raise TableError(self.name, line, f"not TOML: {what}", "mend its syntax") from None

    def _error(self, number: int, key: str, message: str, mend: str) -> TableError:
        return TableError(self.name, self.lines.of(number, key), message, mend)

    def entry(self, number: int, fields: dict[str, Any]) -> Expectation:
        """One of them, checked. Raises TableError."""
        self._check_keys(number, fields)
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
        place = {
            "file": self.name.as_posix(),
            "line": self.lines.of(number),
            "condition": condition,
        }
        return Expectation(**(fields | typed | place))

    def _check_keys(self, number: int, fields: dict[str, Any]) -> None:
        for key, value in fields.items():
            if key not in KEYS:
                raise self._error(number, key, f"unknown key `{key}`", nearest(key, KEYS))
            if not isinstance(value, str):
                raise self._error(number, key, f"`{key}` is not a text", "put it in quotes")
            if not value.strip():
                raise self._error(number, key, f"`{key}` is empty", "write it")
        for key in REQUIRED:
            if key not in fields:
                raise self._error(number, "", f"`{key}` is missing", f'add {key} = "..."')
