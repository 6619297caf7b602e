"""The verdict on a report in words: what a reader sees first, in every form of it."""

from __future__ import annotations

from orchestrator.expectations import Verdict
from orchestrator.report.model import Report

UNSAID = "the run did not come to its end"
"""Of a trial without a result, where nothing tells more."""


def headline(report: Report) -> str:
    """`As expected`, or what is not: `2 unexpected, 1 stale; incomplete: 3 trials ...`."""
    bad = [
        f"{report.verdicts[verdict]:,} {verdict}"
        for verdict in (Verdict.unexpected, Verdict.stale)
        if report.verdicts[verdict]
    ]
    parts = [", ".join(bad)] if bad else []
    if report.missing:
        parts.append(f"incomplete: {count(len(report.missing), 'trial')} without a result")
    parts += absences(report)
    if report.warnings:
        parts.append(count(len(report.warnings), "warning"))
    if not parts:
        return "As expected" if report.rows else "No trials"
    return "; ".join(parts)


def absences(report: Report) -> list[str]:
    """What was expected, and was not given."""
    return [f"cell {name}: no run of it was given" for name in report.absent]


def without_result(report: Report) -> list[str]:
    """Why trials have no result, cause by cause: `4 trials in a, b without a result: ...`."""
    lines = []
    for cause, missing in report.causes().items():
        cells = ", ".join(dict.fromkeys(each.cell for each in missing))
        trials = count(len(missing), "trial")
        lines.append(f"{trials} in {cells} without a result: {cause or UNSAID}")
    return lines


def counts(report: Report) -> str:
    """`1,592 trials of 398 cases in 2 cells: 1,580 ok, 12 expected`."""
    cases = len({row.case for row in report.rows})
    verdicts = [
        f"{number:,} {verdict}" for verdict, number in reversed(report.verdicts.items()) if number
    ]
    return (
        f"{count(len(report.rows), 'trial')} of {count(cases, 'case')} in"
        f" {count(len(report.cells), 'cell')}: {', '.join(verdicts) or 'no result'}"
    )


def count(number: int, noun: str) -> str:
    """`1 case`, `1,592 trials`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
