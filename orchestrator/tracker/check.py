"""What a tracker's file says against what the cases and the expectations say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import dropwhile, zip_longest

from orchestrator.errors import nearest
from orchestrator.tracker.apis import is_known, public, section
from orchestrator.tracker.document import Entry, Fault, read, write
from orchestrator.tracker.rows import COLUMNS, Row
from suites.registry import CaseInfo

Rows = Mapping[str, Row]


def foreign(cases: list[CaseInfo]) -> list[str]:
    """Cases that prove no API, or one that does not exist: a line for each, with its place."""
    found = []
    for case in cases:
        place = f"suites/{case.file}:{case.line}: case {case.name}"
        if not case.proves:
            found.append(f"{place} names no API; give proves=(...)")
        found += [
            f"{place} proves {api}, which does not exist; {nearest(api, public())}"
            for api in case.proves
            if not is_known(api)
        ]
    return found


def faults(text: str, rows: Rows) -> list[Fault]:
    """Everything in which a file differs from the rows that it should have, in the file's order."""
    entries, found = read(text)
    first: dict[str, int] = {}
    for entry in entries:
        if entry.api in first:
            found.append(Fault(entry.line, f"{entry.api} is also at line {first[entry.api]}"))
        else:
            first[entry.api] = entry.line
            found += _against(entry, rows)
    end = len(text.splitlines()) + 1
    found += [Fault(end, f"no row for {api}") for api in rows if api not in first]
    return sorted(found) or list(_form(text, rows))


def _form(text: str, rows: Rows) -> Iterator[Fault]:
    """The first line, from the first section on, that is not as it would be written: of another
    order, or with other spaces."""
    said, right = (_sections(each) for each in (text, write(rows.values())))
    for (line, one), (_, other) in zip_longest(said, right, fillvalue=(len(text.splitlines()), "")):
        if one != other:
            yield Fault(line, f"{one!r} should be {other!r}")
            return


def _sections(text: str) -> list[tuple[int, str]]:
    """The lines from the first section on, with their numbers."""
    lines = list(enumerate(text.splitlines(), 1))
    return list(dropwhile(lambda each: not each[1].startswith("## "), lines))


def _against(entry: Entry, rows: Rows) -> Iterator[Fault]:
    row = rows.get(entry.api)
    if row is None:
        what = "no case proves it" if is_known(entry.api) else nearest(entry.api, rows)
        yield Fault(entry.line, f"unknown API {entry.api}: {what}")
        return
    if section(entry.api) != entry.section:
        yield Fault(entry.line, f"{entry.api} belongs to section {section(entry.api)}")
    for column, said, right in zip(COLUMNS, entry.values, row.cells, strict=True):
        if said != right:
            why = row.against.get(column, "every case of it runs and none has an expectation")
            yield Fault(entry.line, f"{column} of {entry.api} should be {right}: {why}")
