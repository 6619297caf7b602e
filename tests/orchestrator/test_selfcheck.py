"""The samples of suites/selfcheck, wrong on purpose: each must get its outcome and its verdict."""

from __future__ import annotations

import json
from typing import NamedTuple

import pytest
from live import CELL, Command

from orchestrator import journal
from suites.registry import discover
from suites.trial import Result


class Must(NamedTuple):
    outcome: str
    stage: str | None
    diagnostic: str
    verdict: str


OK = Must("passed", None, "", "ok")


def unexpected(outcome: str, stage: str, diagnostic: str) -> Must:
    return Must(outcome, stage, diagnostic, "unexpected")


BOTH = {
    "selfcheck_right": OK,
    "selfcheck_values": unexpected("failed", "compare", "6 of 6 values differ"),
    "selfcheck_shape": unexpected("failed", "compare", "converted is float32 (6,)"),
    "selfcheck_dtype": unexpected("failed", "compare", "converted is float64"),
    "selfcheck_structure": unexpected("failed", "compare", "converted is a tuple of 2"),
    "selfcheck_nan": unexpected("failed", "compare", "NaN"),
    "selfcheck_exception": unexpected("failed", "export", "raised on purpose"),
    "selfcheck_skip": unexpected("skipped", "build", "needs what no environment has"),
    "selfcheck_crash": unexpected(
        "crashed", "export", "was killed by SIGSEGV without a result\nabout to crash"
    ),
    "selfcheck_hang": unexpected("timed_out", "eager", "took more than 1.5 s"),
    "selfcheck_orphan": OK,
    "selfcheck_exit": unexpected("crashed", "eager", "ended with exit status 0 without a result"),
    "selfcheck_noise": OK,
    "selfcheck_closed": unexpected("crashed", "eager", "ended with exit status"),
    "selfcheck_long": unexpected("failed", "eager", "ValueError: long long long"),
    "selfcheck_threads": OK,
    "selfcheck_fault": OK,
}
"""What must come of both frontends."""

DIFFERENT = {
    ("selfcheck_refused", "ts"): OK,
    ("selfcheck_refused", "pt2"): Must("failed", "export", "data-dependent", "expected"),
    ("selfcheck_stale", "ts"): OK,
    ("selfcheck_stale", "pt2"): Must("passed", None, "", "stale"),
    ("selfcheck_reworded", "ts"): unexpected("failed", "export", "the new words"),
    ("selfcheck_reworded", "pt2"): Must("failed", "export", "the new words", "stale"),
}

MUST = {(case, frontend): must for case, must in BOTH.items() for frontend in ("ts", "pt2")}
MUST |= DIFFERENT


class Ran(NamedTuple):
    status: int
    printed: str
    results: dict[tuple[str, str], Result]
    verdicts: dict[tuple[str, str], str]
    processes: list[int]
    files: list[str]


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """One run of all samples, on two workers; each frontend's first fault is the runner's."""
    folder = tmp_path_factory.mktemp("selfcheck")
    (folder / "tmp").mkdir()
    with Command() as command:
        status, printed = command.run(
            *["run", "--cell", CELL, "--suite", "selfcheck", "--workers", "2"],
            *["--output", str(folder / "run")],
            PNNX_PARITY_FAULT=str(folder / "fault"),
            TMPDIR=str(folder / "tmp"),
            RAY_TMPDIR="/tmp",  # the names of its sockets must be short
        )
        processes = command.ours()
    results = journal.read(folder / "run" / journal.NAME)
    report = json.loads((folder / "run" / "report.json").read_text())
    return Ran(
        status,
        printed,
        {(result.trial.case, result.trial.frontend): result for result in results},
        {(row["case"], row["frontend"]): row["verdict"] for row in report["rows"]},
        processes,
        [path.name for path in (folder / "tmp").glob("pnnx-parity-*")],
    )


def test_every_sample_is_listed_here() -> None:
    samples = {info.name for info in discover(["selfcheck"])}
    assert samples == {case for case, _ in MUST}
    assert len(samples) == 20
    assert len(MUST) == 40


def test_samples_are_not_in_a_normal_selection() -> None:
    assert not [info for info in discover() if info.suite == "selfcheck"]


@pytest.mark.parametrize(("case", "frontend"), sorted(MUST))
def test_sample(ran: Ran, case: str, frontend: str) -> None:
    must = MUST[case, frontend]
    result = ran.results[case, frontend]
    assert (result.outcome, result.stage) == (must.outcome, must.stage), result.diagnostic
    assert must.diagnostic in result.diagnostic
    assert ran.verdicts[case, frontend] == must.verdict


def test_nothing_else_ran(ran: Ran) -> None:
    assert ran.results.keys() == MUST.keys()


def test_status(ran: Ran) -> None:
    assert ran.status == 1, ran.printed
    verdicts = list(ran.verdicts.values())
    assert {verdict: verdicts.count(verdict) for verdict in set(verdicts)} == {
        "ok": 12,
        "expected": 1,
        "stale": 2,
        "unexpected": 25,
    }


def test_lost_runner_is_replaced_and_its_trial_run_again(ran: Ran) -> None:
    again = [result for result in ran.results.values() if result.attempts > 1]
    assert [(result.trial.case, result.attempts) for result in again] == [("selfcheck_fault", 2)]


def test_nothing_is_left(ran: Ran) -> None:
    """Neither the program that a trial left behind, nor the one in which another hung."""
    assert ran.processes == []


def test_no_file_is_left(ran: Ran) -> None:
    assert ran.files == []
