"""The tracker as a file: strict Markdown, one table for each section.

    ## torch.nn

    | API | ts | pt2 | ncnn |
    | --- | --- | --- | --- |
    | torch.nn.Conv2d | Yes | Yes | Yes |

Nothing else counts: text before the first section is for people, anything between is an error.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby, pairwise
from typing import NamedTuple

from orchestrator.tracker.apis import SECTIONS, section
from orchestrator.tracker.rows import COLUMNS, Row

PREFACE = """\
# Parity tracker

Which public APIs are proven to convert: by TorchScript and pnnx (`ts`), by exported programs and
pt2pnnx (`pt2`), and on the ncnn runtime by both (`ncnn`), in the reference cell of `envs/`.
`Yes`: every case of the API runs there and must pass. `No`: an expectation says otherwise, or, of
ncnn, a case of it does not run there. What other cells show stands in the report.

`pnnx-parity tracker --write` writes this file, `--check` compares it with the cases and the
expectation tables.
"""
HEADER = "| API | " + " | ".join(COLUMNS) + " |"
RULE = "| --- " * (1 + len(COLUMNS)) + "|"


class Entry(NamedTuple):
    """A row as the file has it, with the line where it stands."""

    line: int
    section: str
    api: str
    values: tuple[str, ...]


class Fault(NamedTuple):
    """What is wrong at a line."""

    line: int
    text: str


def write(rows: Iterable[Row]) -> str:
    """The whole file, for rows in the tracker's order."""
    parts = [PREFACE]
    for name, group in groupby(rows, key=lambda row: section(row.api)):
        lines = [f"| {' | '.join((row.api, *row.cells))} |" for row in group]
        parts.append("\n".join([f"## {name}", "", HEADER, RULE, *lines, ""]))
    return "\n".join(parts)


def read(text: str) -> tuple[list[Entry], list[Fault]]:
    """The rows of a file and every line that is none and should be one."""
    entries: list[Entry] = []
    faults: list[Fault] = []
    lines = text.splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith("## ")]
    seen: dict[str, int] = {}
    for start, end in pairwise([*starts, len(lines)]):
        name = lines[start].removeprefix("## ").strip()
        if name in seen:
            faults.append(Fault(start + 1, f"section {name} is also at line {seen[name]}"))
        elif name not in SECTIONS:
            faults.append(Fault(start + 1, f"section {name} is none of {', '.join(SECTIONS)}"))
        seen.setdefault(name, start + 1)
        body = [(number + 1, lines[number]) for number in range(start + 1, end)]
        table = [(number, line) for number, line in body if line.strip()]
        for expected, (number, line) in zip((HEADER, RULE), table, strict=False):
            if line != expected:
                faults.append(Fault(number, f"{line!r} should be {expected!r}"))
        for number, line in table[2:]:
            row = _row(line)
            if isinstance(row, str):
                faults.append(Fault(number, row))
            else:
                entries.append(Entry(number, name, row[0], tuple(row[1:])))
    return entries, faults


def _row(line: str) -> list[str] | str:
    """The fields of a row, or what is wrong with it."""
    fields = [field.strip() for field in line.split("|")]
    if len(fields) != len(COLUMNS) + 3 or fields[0] or fields[-1]:
        return f"{line!r} is no row of {1 + len(COLUMNS)} columns"
    for column, value in zip(COLUMNS, fields[2:-1], strict=True):
        if value not in ("Yes", "No"):
            return f"{column} of {fields[1]} is {value!r}; write Yes or No"
    return fields[1:-1]
