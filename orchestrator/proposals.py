"""Entries for what is unexpected in a report: all but the reason, which a person has to give."""

from __future__ import annotations

import difflib
import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from orchestrator.expectations import Facts, Verdict
from orchestrator.expectations.facts import MARKERS
from orchestrator.report import Merged, Report
from orchestrator.report.differences import apart
from orchestrator.report.model import Row
from orchestrator.report.text import HIDDEN, PLACES, first_line
from suites.trial import Trial


class Proposal(NamedTuple):
    """An entry by its keys, in their order."""

    case: str
    frontend: str
    target: str
    when: str
    outcome: str
    stage: str
    diagnostic: str
    reason: str = ""

    def __str__(self) -> str:
        lines = [f"{key} = {_toml(value)}" for key, value in self._asdict().items()]
        return "\n".join(["[[expect]]", *lines, ""])


class Seen(NamedTuple):
    """A row, the facts that a `when` is compared with, and the whole diagnostic."""

    row: Row
    facts: Facts
    diagnostic: str

    @property
    def kind(self) -> tuple[str, str, str]:
        return self.row.outcome, self.row.stage or "", stable([self.diagnostic])


def proposals(report: Report, merged: Merged, packages: Collection[str]) -> Iterator[Proposal]:
    """Entries for the unexpected rows, in the order of the report.

    Rows of one case, frontend and target that came to the same are one entry. Its `when` is what
    tells their cells from those in which the case came to something else; it is left empty where
    nothing does. `packages` are the names that a `when` may have.
    """
    paths: dict[tuple[str, str, str], list[Seen]] = defaultdict(list)
    for seen in _seen(report, merged):
        paths[seen.row.case, seen.row.frontend, seen.row.target].append(seen)
    for path, all in paths.items():
        kinds: dict[tuple[str, str, str], list[Seen]] = defaultdict(list)
        for seen in all:
            if seen.row.verdict is Verdict.unexpected:
                kinds[seen.kind].append(seen)
        for (outcome, stage, diagnostic), same in kinds.items():
            others = [seen.facts for seen in all if seen not in same]
            when = _when([seen.facts for seen in same], others, packages)
            yield Proposal(*path, when, outcome, stage, diagnostic)


def _seen(report: Report, merged: Merged) -> Iterator[Seen]:
    for row in report.rows:
        name = merged.columns[row.cell].cell
        trial = Trial(row.case, name, row.frontend, row.target, row.device, row.export)
        result, record = merged.results[row.cell, trial]
        cell = record.cells.get(name)
        facts = Facts.found(cell) if cell else Facts({})
        yield Seen(row, facts.of(trial), result.diagnostic)


def _when(own: Sequence[Facts], others: Sequence[Facts], packages: Collection[str]) -> str:
    if not others:
        return "always"
    names = {*packages, *MARKERS}
    found = (condition.when for condition in apart(own, others) if condition.name in names)
    return next(filter(None, found), "")


LONGEST = 120
"""Characters of a diagnostic that are enough to know it by."""

VARIES = re.compile("|".join([HIDDEN.pattern, *(place.pattern for place, _ in PLACES[:4])]))
"""What another run, machine or version writes otherwise: places, folders, addresses, numbers."""

EDGES = " \t,;:.([{<'\"`)]}>"


def stable(diagnostics: Sequence[str]) -> str:
    """The longest part of the first line that does not vary, and that all diagnostics have."""
    line = first_line(diagnostics[0], 1000).removesuffix("…")
    parts = [part.strip(EDGES) for part in VARIES.split(line)]
    common = [part for part in parts if all(part in text for text in diagnostics)]
    longest = max(common, key=lambda part: (len(part), part.count(" ")), default="")
    if len(longest) > LONGEST:
        longest = longest[:LONGEST].rpartition(" ")[0] or longest[:LONGEST]
    return longest.strip(EDGES)


def _toml(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", r"\u007f")


def patch(path: str, before: str | None, entries: Iterable[Proposal]) -> str:
    """What `git apply` takes to add entries to a file; `before` is None for a new one."""
    added = "\n".join(map(str, entries))
    kept = "" if before is None else before if before.endswith("\n") else before + "\n"
    after = f"{kept}\n{added}" if kept.strip() else added
    return "".join(
        difflib.unified_diff(
            _lines(before or ""),
            _lines(after),
            "/dev/null" if before is None else f"a/{path}",
            f"b/{path}",
        )
    )


def _lines(text: str) -> list[str]:
    """Lines as a diff shows them; `git` has a mark for a last one without an end."""
    *lines, last = text.split("\n")
    whole = [f"{line}\n" for line in lines]
    return [*whole, f"{last}\n\\ No newline at end of file\n"] if last else whole
