"""Check the expectation tables, and the results of runs by them."""

from __future__ import annotations

import argparse
import sys

from orchestrator import runs
from orchestrator.commands import options
from orchestrator.commands.options import Known
from orchestrator.expectations import read_tables
from orchestrator.expectations.reach import unreachable
from orchestrator.report import build, merge
from orchestrator.report.headline import count
from orchestrator.report.summary import audited

MEND = "correct it, or delete it"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "runs",
        nargs="*",
        metavar="RUN",
        help=f"{runs.NAMES}; the tables alone if none",
    )


def main(args: argparse.Namespace) -> int:
    known = Known()
    table, errors = read_tables(options.EXPECTATIONS, known.cases, known.cells)
    idle = unreachable(table, known.cells.values(), known.cases)
    faults = [*map(str, errors), *(f"{entry.place}: {why}; {MEND}" for entry, why in idle)]
    for fault in faults:
        print(f"pnnx-parity: {fault}", file=sys.stderr)
    if faults:
        return 2
    files = {entry.file for entry in table.entries}
    print(
        f"{count(len(table.entries), 'expectation')} in {count(len(files), 'table')}:"
        " each can be met in some cell, and no two by one trial"
    )
    if not args.runs:
        return 0
    report = build(merge(runs.find(name) for name in args.runs), table, known.cases)
    print("\n".join(audited(report)))
    spoken = {row.expectation for row in report.rows}
    silent = sum(entry.place not in spoken for entry in table.entries)
    if silent:
        print(f"expectations of which no trial was run here: {silent:,}")
    return report.status
