"""List cells, suites, cases, or the trials of a selection."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator

from orchestrator.cells import Cell
from orchestrator.commands.options import Known, selection_arguments
from orchestrator.errors import UsageError
from orchestrator.plan import select, spread
from suites.registry import CaseInfo

WHAT = ("cells", "suites", "cases", "trials")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", nargs="?", choices=WHAT, default="cases", help="default: cases")
    parser.add_argument(
        "--json", action="store_true", help="cells as JSON, as a workflow's matrix takes them"
    )
    selection_arguments(parser)


def main(args: argparse.Namespace) -> int:
    known = Known()
    if args.json:
        if args.what != "cells":
            raise UsageError(f"--json is of cells; write: list cells --json, or list {args.what}")
        cells = known.picked(args.cell) or known.cells.values()
        print(json.dumps(list(map(_facts, cells))))
        return 0
    for line in _lines(args, known):
        print(line)
    return 0


def _lines(args: argparse.Namespace, known: Known) -> Iterator[str]:
    match args.what:
        case "cells":
            cells = known.picked(args.cell) or known.cells.values()
            yield from map(_cell, cells)
        case "trials":
            trials, notes = spread(known.selection(args), known.cases_of(args.suite))
            yield from map(str, trials)
            yield from (f"note: {note}" for note in notes)
        case "suites":
            counts = Counter(info.suite for info in known.cases_of(args.suite))
            yield from (f"{suite}: {count} cases" for suite, count in sorted(counts.items()))
        case _:
            yield from map(_case, select(known.cases_of(args.suite), args.keyword or ""))


def _facts(cell: Cell) -> dict[str, object]:
    """What a workflow needs to run a cell, and what its pages show."""
    return {
        "name": cell.name,
        "description": cell.description,
        "python": cell.oldest_python,
        "environment": cell.environment,
        "pins": cell.pins,
    }


def _cell(cell: Cell) -> str:
    return f"{cell.name}: {cell.description} ({', '.join(cell.pins)})"


def _case(info: CaseInfo) -> str:
    needs = f", needs {' and '.join(info.needs)}" if info.needs else ""
    return f"{info.name}: {info.suite}, to {' and '.join(info.targets)}{needs}"
