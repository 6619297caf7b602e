"""Show all that a run tells of a case: stages, times, whole diagnostics, versions."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from orchestrator import runs
from orchestrator.commands.options import Known
from orchestrator.errors import UsageError, nearest
from orchestrator.expectations import Verdict
from orchestrator.report import Merged, Report, build, merge
from orchestrator.report.differences import PACKAGES
from orchestrator.report.headline import UNSAID
from orchestrator.report.model import Row, path
from orchestrator.report.text import visible
from orchestrator.spelling import command
from suites.trial import Trial


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", help=runs.NAMES)
    parser.add_argument("case", metavar="CASE")


def main(args: argparse.Namespace) -> int:
    known = Known()
    merged = merge([runs.find(args.run)])
    planned = {trial.case for trial in merged.runs[0].record.plan}
    if args.case not in planned:
        raise UsageError(f"{args.run} has no case {args.case!r}; {nearest(args.case, planned)}")
    report = build(merged, known.table(), known.cases, None, known.reviewed())
    print("\n".join(_lines(args.case, report, merged, known)))
    return 0


def _lines(case: str, report: Report, merged: Merged, known: Known) -> Iterator[str]:
    info = known.cases.get(case)
    yield f"{case}, suites/{info.file}:{info.line}" if info else f"{case}, which is no case now"
    for row in report.rows:
        if row.case == case:
            trial = Trial(case, row.cell, row.frontend, row.target, row.device, row.export)
            yield from _trial(row, visible(merged.results[row.cell, trial].result.diagnostic))
    for missing in report.missing:
        if missing.case == case:
            yield f"\n{missing.cell}: {path(missing)}: no result: {missing.cause or UNSAID}"
    for unlike in report.structure.unlike:
        if unlike.case == case:
            yield f"\n{unlike.cell}: the graphs of ts and pt2 differ"
            yield from (f"  {text}" for text in unlike.differences)
            yield from (f"  because {reason}" for reason in unlike.reasons)
    ran = {row.cell for row in report.rows if row.case == case}
    for cell in report.cells:
        if cell.record and cell.label in ran:
            found = cell.record.packages
            versions = [f"{name} {found[name]}" for name in PACKAGES if name in found]
            yield f"\n{cell.label}: Python {cell.record.python} on {cell.record.platform}"
            yield f"  {', '.join(versions)}"


def _trial(row: Row, diagnostic: str) -> Iterator[str]:
    yield f"\n{row.cell}: {row.path}: {row.what}: {row.verdict}"
    if row.why:
        place = f" ({row.expectation})" if row.verdict is Verdict.expected else ""
        yield f"  {row.why}{place}"
    if row.link:
        yield f"  {row.link}"
    times = [f"{stage} {seconds * 1000:,.0f}" for stage, seconds in row.seconds.items()]
    memory = f"; {row.peak_mb:,.0f} MiB" if row.peak_mb else ""
    again = f"; attempt {row.attempts}" if row.attempts > 1 else ""
    yield f"  ms: {', '.join(times) or 'none'}{memory}{again}"
    yield from (f"  | {line}" for line in diagnostic.splitlines())
    yield f"  again: {command(*row.again)}"
