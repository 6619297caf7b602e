"""What a tracker's file says against what the cases and the expectations say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from orchestrator.errors import nearest
from orchestrator.tracker.apis import is_known, public, section
from orchestrator.tracker.document import Entry, Fault, read
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
    if not found and list(first) != list(rows):
        found.append(Fault(1, "the rows are in another order"))
    return sorted(found)


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
