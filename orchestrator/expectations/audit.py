"""Results against expectations: verdicts, and the exit status of a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum

import msgspec

from orchestrator.expectations.facts import Facts
from orchestrator.expectations.table import Expectation, Table
from suites.trial import Outcome, Result


class Verdict(StrEnum):
    """An outcome against its expectation; a run is green when all are ok or expected."""

    ok = "ok"
    expected = "expected"
    unexpected = "unexpected"
    stale = "stale"

    @property
    def green(self) -> bool:
        return self in (Verdict.ok, Verdict.expected)


class Judgement(msgspec.Struct, frozen=True):
    """A verdict, the sentence that says why, and the entry that took part."""

    verdict: Verdict
    why: str = ""
    expectation: Expectation | None = None


def judge(result: Result, expectation: Expectation | None) -> Judgement:
    """The verdict on a result, given the entry that speaks of its trial (`Table.match`)."""
    passed = result.outcome is Outcome.passed
    if expectation is None:
        if passed:
            return Judgement(Verdict.ok)
        return Judgement(Verdict.unexpected, f"{_what(result)}, and no entry expects it")
    place = expectation.place
    if passed:
        return Judgement(Verdict.stale, f"passes now: delete the entry {place}", expectation)
    wanted = f"{expectation.outcome} at {expectation.stage}"
    if (result.outcome, result.stage) != (expectation.outcome, expectation.stage):
        why = f"{_what(result)}, but {place} expects {wanted}"
        return Judgement(Verdict.stale, why, expectation)
    if expectation.diagnostic not in result.diagnostic:
        why = f"{wanted} as {place} expects, but not with `{expectation.diagnostic}`"
        return Judgement(Verdict.stale, why, expectation)
    return Judgement(Verdict.expected, expectation.reason, expectation)


def _what(result: Result) -> str:
    return f"{result.outcome} at {result.stage}" if result.stage else str(result.outcome)


def audit(results: Iterable[Result], table: Table, facts: Mapping[str, Facts]) -> list[Judgement]:
    """The judgement of each result, in their order; `facts` by the cell's name, as its runner read
    them. Raises TableError where two entries speak of one trial."""
    return [
        judge(result, table.match(result.trial, facts[result.trial.cell])) for result in results
    ]


def exit_status(verdicts: Iterable[Verdict], missing: int = 0) -> int:
    """0: all green. 1: something unexpected or stale. 3: `missing` trials have no result.

    An incomplete run is 3 whatever else it shows: what is missing may be worse. (2, a usage, table
    or environment error, ends a run before it has verdicts.)
    """
    if missing:
        return 3
    return 0 if all(verdict.green for verdict in verdicts) else 1
