"""The samples of suites/selfcheck, wrong on purpose: each must get its outcome and its verdict."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

from live import CELL, Command

from orchestrator import journal
from orchestrator.history import FILE, History
from suites.registry import discover


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
    "selfcheck_both": OK,
    "selfcheck_slow": OK,
    "selfcheck_late": OK,
}
"""What must come of both frontends on the pnnx target."""

ON_NCNN = {
    "selfcheck_both": OK,
    "selfcheck_slow": OK,
    "selfcheck_late": unexpected("crashed", "load", "was killed by SIGSEGV without a result"),
}
"""What must come of them on the ncnn target, in the process of the trial before."""

DIFFERENT = {
    ("selfcheck_refused", "ts"): OK,
    ("selfcheck_refused", "pt2"): Must("failed", "export", "data-dependent", "expected"),
    ("selfcheck_stale", "ts"): OK,
    ("selfcheck_stale", "pt2"): Must("passed", None, "", "stale"),
    ("selfcheck_reworded", "ts"): unexpected("failed", "export", "the new words"),
    ("selfcheck_reworded", "pt2"): Must("failed", "export", "the new words", "stale"),
}

MUST = {
    (case, frontend, target): must
    for target, cases in (("pnnx", BOTH), ("ncnn", ON_NCNN))
    for case, must in cases.items()
    for frontend in ("ts", "pt2")
}
MUST |= {(*trial, "pnnx"): must for trial, must in DIFFERENT.items()}


def test_every_sample_is_listed_here() -> None:
    samples = {info.name for info in discover(["selfcheck"])}
    assert samples == {case for case, _, _ in MUST}
    assert len(samples) == 23
    assert len(MUST) == 52


def test_samples_are_not_in_a_normal_selection() -> None:
    assert not [info for info in discover() if info.suite == "selfcheck"]


def test_samples(tmp_path: Path) -> None:
    """One run of all samples, on two workers; the first fault is a runner's."""
    folder, temporary = tmp_path / "run", tmp_path / "tmp"
    temporary.mkdir()
    with Command(results=tmp_path) as command:
        status, printed = command.run(
            *["run", "--cell", CELL, "--suite", "selfcheck", "--workers", "2"],
            *["--output", str(folder)],
            PNNX_PARITY_FAULT=str(tmp_path / "fault"),
            TMPDIR=str(temporary),
            RAY_TMPDIR="/tmp",  # the names of its sockets must be short
        )
        left = command.ours()
    assert status == 1, printed

    results = {
        (result.trial.case, result.trial.frontend, result.trial.target): result
        for result in journal.read(folder / journal.NAME)
    }
    report = json.loads((folder / "report.json").read_text())
    verdicts = {
        (row["case"], row["frontend"], row["target"]): row["verdict"] for row in report["rows"]
    }
    assert {
        trial: (result.outcome, result.stage, verdicts[trial]) for trial, result in results.items()
    } == {trial: (must.outcome, must.stage, must.verdict) for trial, must in MUST.items()}
    for trial, must in MUST.items():
        assert must.diagnostic in results[trial].diagnostic, trial
    assert report["verdicts"] == {"ok": 22, "expected": 1, "stale": 2, "unexpected": 27}

    # The history has them all, with the same verdicts.
    with History(tmp_path / FILE) as history:
        recorded = [each for case in BOTH for each in history.of_case(case)]
    assert {(each.key.trial, each.verdict) for each in recorded} == {
        (result.trial, verdicts[trial]) for trial, result in results.items() if trial[0] in BOTH
    }
    # Both frontends made the same graph of what they converted right.
    assert report["structure"]["total"]["same"] >= 5
    assert "selfcheck_right" not in {each["case"] for each in report["structure"]["unlike"]}

    # The trial whose runner died was run again, and no other.
    again = [result for result in results.values() if result.attempts > 1]
    assert [(result.trial.case, result.attempts) for result in again] == [("selfcheck_fault", 2)]
    # Neither the program that a trial left behind is left, nor the one in which another hung.
    assert left == []
    assert list(temporary.glob("pnnx-parity-*")) == []
