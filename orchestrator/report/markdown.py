"""`report.md`: what is to be done, short; also the step summary of a GitHub job.

GitHub takes at most 1 MiB: lists end after `MOST` entries, texts after a few hundred characters,
and a section that does not fit all the same is left out, which is told.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Sequence

from orchestrator.report.differences import PACKAGES
from orchestrator.report.headline import count, counts, headline, without_result
from orchestrator.report.model import Difference, Group, Report, Side
from orchestrator.report.text import gist

MOST = 50
LIMIT = 1_000_000
"""Bytes."""

SIGNS = {0: "✅", 1: "❌", 3: "⚠️"}


def markdown(report: Report) -> str:
    """The report as GitHub-flavoured Markdown."""
    lines = [
        f"## {SIGNS[report.status]} pnnx-parity: {headline(report)}",
        "",
        counts(report) + ".",
        "",
        *(f"- ⚠️ {escape(text)}" for text in without_result(report)[:MOST]),
        *(f"- ⚠️ {code(text)}" for text in report.warnings[:MOST]),
        "",
    ]
    for title, body in (
        ("Unexpected and stale", _attention(report)),
        ("Differences between cells", _differences(report)),
        (_since(report), _changes(report)),
        ("Failure clusters", _clusters(report)),
        (_parity(report), _structure(report)),
        ("Slowest trials", _slowest(report)),
        ("Cells", _cells(report)),
    ):
        if text := "\n".join(body):
            is_open = " open" if title.startswith("Unexpected") else ""
            section = f"<details{is_open}><summary>{title}</summary>\n\n{text}\n\n</details>\n"
            fits = len("\n".join([*lines, section]).encode()) < LIMIT
            lines.append(section if fits else f"{title}: too long for this page, see index.html.\n")
    return "\n".join(lines)


def _attention(report: Report) -> Iterator[str]:
    def row(group: Group) -> list[str]:
        first = report.rows[group.rows[0]]
        where = "<br>".join(map(escape, report.places(group.rows)))
        text = report.diagnostic(first)
        return [str(group.verdict), code(first.case), where, escape(first.why), code(text)]

    heads = ("verdict", "case", "where", "why", "diagnostic")
    return _table(heads, [row(group) for group in report.attention[:MOST]], len(report.attention))


def _differences(report: Report) -> Iterator[str]:
    def side(side: Side) -> str:
        where = f" (where {' and '.join(side.where)})" if side.where else ""
        return escape(f"{report.rows[side.rows[0]].what} in {', '.join(side.cells)}{where}")

    def row(difference: Difference) -> list[str]:
        sides = "<br>".join(map(side, difference.sides))
        return [code(difference.case), escape(", ".join(difference.paths)), sides]

    rows = [row(difference) for difference in report.differences[:MOST]]
    return _table(("case", "path", "what came"), rows, len(report.differences))


def _since(report: Report) -> str:
    changes = report.changes
    told = f"Changes since the last time ({count(changes.compared, 'trial')} compared)"
    if abs(changes.pace - 1) > 0.1:
        told += f", at {changes.pace:.1f} times the usual time"
    return told


def _changes(report: Report) -> Iterator[str]:
    changes = report.changes

    def line(kind: str, number: int, before: str, text: str = "") -> list[str]:
        row = report.rows[number]
        place = [code(row.case), escape(f"{row.path} in {row.cell}")]
        return [kind, *place, escape(before), escape(row.what), code(text)]

    kinds = {
        "newly failing": changes.failing,
        "fixed": changes.fixed,
        "new diagnostic": changes.reworded,
    }
    rows = [
        line(kind, each.row, f"{each.what} in {each.run}", report.diagnostic(report.rows[each.row]))
        for kind, found in kinds.items()
        for each in found
    ]
    rows += [
        line("slower", each.row, f"{each.usual:.2f} s", f"{report.rows[each.row].total:.2f} s")
        for each in changes.slower
    ]
    rows += [line("flaky", each.row, ", ".join(each.record)) for each in changes.flaky]
    heads = ("change", "case", "where", "before", "now", "diagnostic or time")
    return _table(heads, rows[:MOST], len(rows))


def _parity(report: Report) -> str:
    total = report.structure.total
    share = f"{total.same / total.compared:.1%}" if total.compared else "none compared"
    return f"Structural parity: {total.same:,} of {total.compared:,} graphs the same ({share})"


def _structure(report: Report) -> Iterator[str]:
    structure = report.structure
    suites = [
        [code(suite), f"{share.same:,} of {share.compared:,}"]
        for suite, share in sorted(structure.suites.items())
    ]
    yield from _table(("suite", "the same"), suites, len(suites))
    rows = [
        [
            code(each.case),
            code(each.cell),
            "<br>".join(map(code, each.differences[:3])),
            "<br>".join(
                [*map(escape, each.reasons), *(["not reviewed"] if each.unreviewed else [])]
            ),
        ]
        for each in structure.unlike[:MOST]
    ]
    if rows:
        yield ""
    yield from _table(("case", "cell", "difference", "reason"), rows, len(structure.unlike))
    yield from (f"\n{escape(text)}" for text in structure.outdated[:MOST])


def _clusters(report: Report) -> Iterator[str]:
    rows = [
        [str(len(group.rows)), str(group.verdict), escape(group.what), code(group.pattern)]
        for group in report.clusters[:MOST]
    ]
    return _table(("trials", "worst", "what", "diagnostic"), rows, len(report.clusters))


def _slowest(report: Report) -> Iterator[str]:
    rows = [
        [f"{row.total:.2f} s", code(row.case), escape(row.path), code(row.cell)]
        for row in report.slowest(10)
    ]
    return _table(("time", "case", "path", "cell"), rows, len(rows))


def _cells(report: Report) -> Iterator[str]:
    packages = [
        package
        for package in PACKAGES
        if any(cell.record and package in cell.record.packages for cell in report.cells)
    ]
    rows = []
    for cell in report.cells[:MOST]:
        if cell.record is None:
            continue
        versions = [escape(cell.record.packages.get(package, "–")) for package in packages]
        rows.append([code(cell.label), escape(cell.record.platform), *versions])
    yield from _table(("cell", "platform", *packages), rows, len(rows))
    if report.conflicts:
        yield from ("", "Runs disagree:", "")
        yield from (f"- {code(text)}" for text in report.conflicts[:MOST])


def _table(heads: Sequence[str], rows: Sequence[Iterable[str]], total: int) -> Iterator[str]:
    if not rows:
        return
    yield "| " + " | ".join(heads) + " |"
    yield "|" + " --- |" * len(heads)
    for row in rows:
        yield "| " + " | ".join(row) + " |"
    if total > len(rows):
        yield f"\n{count(total - len(rows), 'more')} in index.html."


def escape(text: str) -> str:
    """Text that neither Markdown nor HTML takes for its own, on one line."""
    plain = html.escape(gist(text, 300), quote=False)
    return "".join(f"&#{ord(sign)};" if sign in "|\\`*_[]~@#:$" else sign for sign in plain)


def code(text: str) -> str:
    """The first line as code, as an HTML element: backticks in a text would end a Markdown one."""
    return f"<code>{escape(text)}</code>" if text else ""
