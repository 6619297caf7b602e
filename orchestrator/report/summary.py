"""What a run says in the terminal at its end: the counts, and what to look at."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from orchestrator.report.github import annotated
from orchestrator.report.headline import count, counts, headline, without_result
from orchestrator.report.model import Group, Report
from orchestrator.report.text import gist
from orchestrator.spelling import command
from suites.registry import CaseInfo

MOST = 10


def tell(
    report: Report, folder: Path, cases: Mapping[str, CaseInfo], places: Mapping[str, Path]
) -> None:
    """Print the summary; in a GitHub job annotations too, which it takes out of the output."""
    print(summary(report, folder, places))
    if os.environ.get("GITHUB_ACTIONS"):
        for line in annotated(report, cases):
            print(line)


def summary(report: Report, folder: Path, places: Mapping[str, Path]) -> str:
    """A few lines of plain text; `folder` is where the report was written, `places` are the runs'
    own folders, by name."""
    lines = [f"{headline(report)}. {counts(report)}."]
    for group in report.attention[:MOST]:
        lines += _group(report, group)
    if len(report.attention) > MOST:
        lines.append(f"... and {len(report.attention) - MOST:,} more like these")
    lines += _closer(report, places)
    lines += _changes(report)
    retried = sum(row.attempts > 1 for row in report.rows)
    if retried:
        lines.append(f"{count(retried, 'trial')} ran again after a fault of the infrastructure")
    lines += [gist(text, 600) for text in without_result(report)[:MOST]]
    lines += [f"warning: {text}" for text in report.warnings]
    lines += [f"runs disagree: {text}" for text in report.conflicts[:MOST]]
    lines.append(f"report: {folder / 'index.html'}")
    return "\n".join(lines)


def audited(report: Report) -> list[str]:
    """The counts, and everything that is not as expected."""
    lines = [f"{headline(report)}. {counts(report)}."]
    for group in report.attention:
        lines += _group(report, group)
    lines += without_result(report)
    return [*lines, *(f"warning: {text}" for text in report.warnings)]


def _group(report: Report, group: Group) -> Iterator[str]:
    row = report.rows[group.rows[0]]
    yield f"{group.verdict}: {row.case}: {row.why}"
    yield from (f"  {place}" for place in report.places(group.rows))
    if row.diagnostic is not None:
        # Behind a sign, so that no text that begins with `::` is a command to GitHub.
        yield f"  | {gist(report.diagnostic(row), 160)}"
    yield f"  again: {command(*row.again)}"


def _closer(report: Report, places: Mapping[str, Path]) -> Iterator[str]:
    """The command that shows the first of what is to be looked at, whole."""
    if report.attention:
        row = report.rows[report.attention[0].rows[0]]
        run = str(places.get(row.run, row.run))
        yield f"look closer: {command('show', run, row.case)}"


def _changes(report: Report) -> Iterator[str]:
    changes = report.changes
    told: dict[str, Sequence[object]] = {
        "newly failing": changes.failing,
        "fixed": changes.fixed,
        "with a new diagnostic": changes.reworded,
        "slower than twice the usual": changes.slower,
    }
    numbers = [f"{len(rows):,} {what}" for what, rows in told.items() if rows]
    if numbers:
        yield f"since the last time: {', '.join(numbers)}"
