"""What is unexpected as GitHub's annotations: lines of output that it shows beside the code.

The format is `::error file=NAME,line=NUMBER,title=TEXT::TEXT`, on one line, with a few characters
written as `%XX`: https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
"""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.expectations import Verdict
from orchestrator.report.headline import absences, without_result
from orchestrator.report.model import Group, Report, Row
from orchestrator.report.text import cut
from suites.registry import CaseInfo

MOST = 10
"""How many of a kind GitHub shows of one step."""

LONG = 1000
"""Bytes of a diagnostic that are enough here."""


def annotated(report: Report, cases: Mapping[str, CaseInfo]) -> list[str]:
    """A line for each case that is unexpected, at the case, or stale, at the entry."""
    lines = [_group(report, group, cases) for group in report.attention]
    lines += [_error(text) for text in (*without_result(report), *absences(report))]
    if len(lines) > MOST:
        lines[MOST - 1 :] = [_error(f"{len(lines) - MOST + 1:,} more are in the report")]
    warnings = [f"::warning::{_data(text)}" for text in report.warnings]
    return lines + warnings[:MOST]


def _group(report: Report, group: Group, cases: Mapping[str, CaseInfo]) -> str:
    row = report.rows[group.rows[0]]
    text = "\n".join(
        [
            row.why,
            *report.places(group.rows),
            *([cut(report.diagnostic(row), LONG)] if row.diagnostic is not None else []),
            f"again: {row.command}",
        ]
    )
    where = _place(row, cases)
    return _error(text, **where, title=f"{row.verdict}: {row.case} {group.what}")


def _place(row: Row, cases: Mapping[str, CaseInfo]) -> dict[str, str]:
    if row.verdict is Verdict.stale:
        file, _, line = row.expectation.rpartition(":")
        return {"file": file, "line": line}
    case = cases.get(row.case)
    return {"file": f"suites/{case.file}", "line": str(case.line)} if case else {}


def _error(text: str, **properties: str) -> str:
    told = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::error {told}::{_data(text)}" if told else f"::error::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
