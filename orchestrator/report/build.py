"""Merged runs, judged by the expectation tables, as one `Report`."""

from __future__ import annotations

import datetime
from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence

from orchestrator.expectations import Facts, Table, Verdict, exit_status, judge
from orchestrator.history import Past
from orchestrator.record import RunRecord
from orchestrator.report.changes import changes, trend
from orchestrator.report.differences import differences
from orchestrator.report.merge import Merged, Newest
from orchestrator.report.model import VERDICTS, Cell, Group, Missing, Report, Row, Run
from orchestrator.report.structure import Reasons, graphs, structure
from orchestrator.report.text import cut, pattern, visible, visible_all
from suites.registry import CaseInfo
from suites.trial import DEVICES, EXPORTS, FRONTENDS, TARGETS, Outcome, Trial

UNKNOWN = Facts({})
"""Of a cell in which no runner came up: no condition on a package holds in it."""


def build(
    merged: Merged,
    table: Table,
    cases: Mapping[str, CaseInfo],
    past: Past | None = None,
    reasons: Reasons | None = None,
) -> Report:
    """Judge every result by the facts of its own run, and see what the results have in common.

    `cases` are all that there are, by name; `past` are runs to compare with, beside the merged
    ones; `reasons` say why frontends may write different graphs. Raises TableError where two
    entries speak of a trial.
    """
    results = dict(sorted(merged.results.items(), key=lambda item: _order(*item[0])))
    newest = list(results.values())
    past = (past or Past()).joined(merged.runs)
    rows, diagnostics = _Rows(table, cases).of(results)
    patterns = [
        "" if row.diagnostic is None else pattern(diagnostics[row.diagnostic], row.case)
        for row in rows
    ]
    kinds = [f"{row.what}: {kind}" for row, kind in zip(rows, patterns, strict=True)]
    verdicts = Counter(row.verdict for row in rows)
    outcomes = Counter(row.outcome for row in rows)
    attention = [
        None if row.verdict.green else (row.verdict, row.case, kind)
        for row, kind in zip(rows, kinds, strict=True)
    ]
    clusters = [
        None if row.verdict is Verdict.ok else kind for row, kind in zip(rows, kinds, strict=True)
    ]
    return Report(
        created=datetime.datetime.now(datetime.UTC),
        status=exit_status(
            verdicts, len(merged.missing) + len(merged.warnings) + len(merged.absent)
        ),
        verdicts={verdict: verdicts[verdict] for verdict in VERDICTS},
        outcomes={outcome: outcomes[outcome] for outcome in Outcome},
        runs=visible_all([_run(record, len(results)) for record, results in merged.runs]),
        cells=visible_all(_cells(merged)),
        warnings=visible_all(merged.warnings),
        conflicts=visible_all(merged.conflicts),
        rows=rows,
        missing=_missing(merged),
        absent=merged.absent,
        diagnostics=diagnostics,
        attention=sorted(
            _groups(rows, patterns, attention), key=lambda group: VERDICTS.index(group.verdict)
        ),
        differences=differences(rows, kinds, _facts(merged)),
        clusters=_groups(rows, patterns, clusters),
        changes=changes(rows, kinds, newest, past),
        trend=trend(newest, past),
        structure=structure(graphs(results), cases, reasons or {}),
    )


class _Rows:
    """Makes rows of results, and collects their diagnostics, each text once."""

    def __init__(self, table: Table, cases: Mapping[str, CaseInfo]) -> None:
        self._table = table
        self._cases = cases
        self._texts: dict[str, int] = {}
        self._facts: dict[tuple[int, str], Facts] = {}

    def of(self, results: Mapping[tuple[str, Trial], Newest]) -> tuple[list[Row], list[str]]:
        rows = [self._row(label, newest) for (label, _), newest in results.items()]
        return rows, list(self._texts)

    def _row(self, label: str, newest: Newest) -> Row:
        result, record = newest
        trial = result.trial
        judgement = judge(result, self._table.match(trial, self._found(record, trial.cell)))
        expectation = judgement.expectation
        text = cut(visible(result.diagnostic))
        return Row(
            cell=label,
            case=trial.case,
            suite=self._cases[trial.case].suite if trial.case in self._cases else "",
            frontend=trial.frontend,
            target=trial.target,
            device=trial.device,
            export=trial.export,
            run=visible(record.run),
            outcome=result.outcome,
            stage=result.stage,
            diagnostic=self._texts.setdefault(text, len(self._texts)) if text else None,
            verdict=judgement.verdict,
            why=cut(visible(judgement.why)),
            expectation=expectation.place if expectation else "",
            link=visible(expectation.link) if expectation else "",
            seconds={stage: round(seconds, 4) for stage, seconds in result.seconds.items()},
            attempts=result.attempts,
            peak_mb=result.peak_mb,
        )

    def _found(self, record: RunRecord, cell: str) -> Facts:
        """The facts of a cell as the run found them."""
        key = (id(record), cell)
        if key not in self._facts:
            found = record.cells.get(cell)
            self._facts[key] = Facts.found(found) if found else UNKNOWN
        return self._facts[key]


def _order(label: str, trial: Trial) -> tuple[str | int, ...]:
    """By case, then by path in the order in which people name them, then by cell."""
    path = (
        (FRONTENDS, trial.frontend),
        (EXPORTS, trial.export),
        (TARGETS, trial.target),
        (DEVICES, trial.device),
    )
    return trial.case, *(names.index(name) for names, name in path), label


def _cells(merged: Merged) -> list[Cell]:
    return [
        Cell(label=label, name=column.cell, record=column.record)
        for label, column in merged.columns.items()
    ]


def _missing(merged: Merged) -> list[Missing]:
    return [
        Missing(
            run=visible(record.run),
            cell=label,
            case=trial.case,
            frontend=trial.frontend,
            target=trial.target,
            device=trial.device,
            export=trial.export,
            cause=cut(visible(record.why(trial))),
        )
        for (label, trial), record in sorted(
            merged.missing.items(), key=lambda item: _order(*item[0])
        )
    ]


def _facts(merged: Merged) -> dict[str, Facts]:
    return {
        label: Facts.found(column.record) if column.record else UNKNOWN
        for label, column in merged.columns.items()
    }


def _groups(
    rows: Sequence[Row], patterns: Sequence[str], keys: Sequence[Hashable | None]
) -> list[Group]:
    """The rows that share a key (None: in no group), largest group first."""
    groups: dict[Hashable, list[int]] = defaultdict(list)
    for number, key in enumerate(keys):
        if key is not None:
            groups[key].append(number)
    return [
        Group(
            verdict=min((rows[n].verdict for n in numbers), key=VERDICTS.index),
            what=rows[numbers[0]].what,
            pattern=patterns[numbers[0]],
            rows=numbers,
        )
        for numbers in sorted(groups.values(), key=len, reverse=True)
    ]


def _run(record: RunRecord, results: int) -> Run:
    return Run(
        run=record.run,
        started=record.started,
        finished=record.finished,
        command=record.command,
        commit=record.commit,
        versions=record.versions,
        cpu=record.cpu,
        cores=record.cores,
        workers=record.workers,
        seconds=record.seconds,
        results=results,
    )
