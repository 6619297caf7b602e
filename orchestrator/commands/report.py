"""Merge runs - of cells, machines and days - into one cross-version report."""

from __future__ import annotations

import argparse
from pathlib import Path

from orchestrator import runs
from orchestrator.commands.options import Known
from orchestrator.errors import UsageError
from orchestrator.report import build, merge, summary, write


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("runs", nargs="*", type=Path, metavar="RUN", help="default: results/*")
    parser.add_argument(
        "--output", type=Path, default=runs.RESULTS / "report", metavar="DIR",
        help="default: results/report",
    )  # fmt: skip


def main(args: argparse.Namespace) -> int:
    known = Known()
    folders = args.runs or sorted(file.parent for file in runs.RESULTS.glob(f"*/{runs.RECORD}"))
    report = build(merge(folders), known.table(), known.cases)
    try:
        write(report, args.output)
    except OSError as error:
        raise UsageError(f"--output {args.output}: {error.strerror}; give another folder") from None
    print(summary(report, args.output))
    return report.status
