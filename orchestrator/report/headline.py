"""The verdict on a report in words: what a reader sees first, in every form of it."""

from __future__ import annotations

from orchestrator.expectations import Verdict
from orchestrator.report.model import Report


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
    if report.warnings:
        parts.append(f"{count(len(report.warnings), 'run')} left out")
    if not parts:
        return "As expected" if report.rows else "No trials"
    return "; ".join(parts)


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
