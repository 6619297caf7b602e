"""`issue.md`: what somebody must look at, as an issue's text; none where all is as expected."""

from __future__ import annotations

from collections.abc import Iterator

from orchestrator.report.headline import absences, count, headline, without_result
from orchestrator.report.markdown import code, escape
from orchestrator.report.model import Change, Group, Report

MOST = 30
"""Groups that are listed: an issue is read, the report looked through."""


def issue(report: Report) -> str:
    """The text, in GitHub-flavoured Markdown; empty where all is there and as expected."""
    return "\n".join(_lines(report)) if report.status else ""


def _lines(report: Report) -> Iterator[str]:
    newly = {change.row: change for change in report.changes.failing}
    yield f"**{escape(headline(report))}**"
    yield ""
    for text in (*absences(report), *without_result(report), *report.warnings):
        yield f"- {escape(text)}"
    for group in report.attention[:MOST]:
        yield from _group(report, group, newly)
    if len(report.attention) > MOST:
        yield f"- and {count(len(report.attention) - MOST, 'case')} more, in the report"
    yield ""
    yield "This text is replaced every night, and the issue closed when all is as expected again."


def _group(report: Report, group: Group, newly: dict[int, Change]) -> Iterator[str]:
    row = report.rows[group.rows[0]]
    where = "; ".join(report.places(group.rows))
    passed = sorted({newly[each].run for each in group.rows if each in newly})
    since = f"; passed in {', '.join(passed)}" if passed else ""
    yield f"- {group.verdict}: {code(row.case)} {escape(f'{group.what}: {where}{since}')}"
    if row.diagnostic is not None:
        yield f"  {code(report.diagnostic(row))}"
    yield f"  again: {code(row.command)}"
