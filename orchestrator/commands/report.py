"""Merge runs - of cells, machines and days - into one cross-version report."""

from __future__ import annotations

import argparse
from pathlib import Path

from orchestrator import memory, runs
from orchestrator.cells import pick
from orchestrator.commands.options import Known, warn
from orchestrator.errors import UsageError
from orchestrator.report import build, merge, tell, write


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("runs", nargs="*", metavar="RUN", help=f"{runs.NAMES}; default: all")
    parser.add_argument(
        "--expect-cell", action="append", default=[], metavar="NAME",
        help="a cell of which there ought to be a run (may be repeated)",
    )  # fmt: skip
    parser.add_argument(
        "--output", type=Path, default=runs.RESULTS / "report", metavar="DIR",
        help="default: results/report",
    )  # fmt: skip


def main(args: argparse.Namespace) -> int:
    known = Known()
    table = known.table()
    pick(known.cells, args.expect_cell)
    damage: list[str] = []
    past = memory.recall(damage.append)
    folders = map(runs.located, args.runs) if args.runs else memory.folders()
    merged = merge(folders, args.expect_cell)
    merged.warnings.extend(damage)
    report = build(merged, table, known.cases, past, known.reviewed())
    try:
        write(report, args.output)
    except OSError as error:
        where = f"{error.filename}: {error.strerror}"
        raise UsageError(f"{where}; mend that, or give another --output") from None
    unkept: list[str] = []
    memory.keep(merged.places.values(), table, unkept.append)
    for text in unkept:
        if text not in damage:
            warn(text)
    tell(report, args.output, known.cases, merged.places)
    return report.status
