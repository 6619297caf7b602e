"""Verdicts: every outcome against every kind of expectation, and the exit status."""

from __future__ import annotations

import pytest
from expectation_tables import entry, load

from orchestrator.expectations import Facts, Verdict, audit, exit_status, judge
from suites.trial import Outcome, Result, Stage, Trial

TRIAL = Trial("F_relu", "old", "pt2", "pnnx")
FACTS = {"old": Facts({"torch": "2.12.1"}, {"platform": "linux", "mkl": "SSE4_2"})}
BAD = [outcome for outcome in Outcome if outcome is not Outcome.passed]


def result(
    outcome=Outcome.failed, stage=Stage.export, diagnostic="a data-dependent shape", **trial
):
    if outcome is Outcome.passed:
        stage, diagnostic = None, ""
    trial = Trial(
        **({"case": "F_relu", "cell": "old", "frontend": "pt2", "target": "pnnx"} | trial)
    )
    return Result(trial=trial, outcome=outcome, stage=stage, diagnostic=diagnostic)


def verdict(table, given):
    (judgement,) = audit([given], table, FACTS)
    return judgement.verdict


@pytest.mark.parametrize("outcome", Outcome)
def test_without_an_entry(outcome):
    judgement = judge(result(outcome), None)
    assert judgement.verdict == (Verdict.ok if outcome == "passed" else Verdict.unexpected)
    assert ("no entry expects it" in judgement.why) == (outcome != "passed")


@pytest.mark.parametrize("expected", BAD)
@pytest.mark.parametrize("came", Outcome)
def test_outcome_against_an_entry(tmp_path, expected, came):
    table = load(tmp_path, entry(outcome=str(expected)))
    assert verdict(table, result(came)) == (Verdict.expected if came is expected else Verdict.stale)


@pytest.mark.parametrize("stage", Stage)
def test_stage_against_an_entry(tmp_path, stage):
    table = load(tmp_path, entry(stage="export"))
    assert verdict(table, result(stage=stage)) == (
        Verdict.expected if stage is Stage.export else Verdict.stale
    )


def test_a_diagnostic_must_hold_the_text(tmp_path):
    table = load(tmp_path, entry(diagnostic="data-dependent"))
    assert verdict(table, result(diagnostic="x data-dependent y")) is Verdict.expected
    assert verdict(table, result(diagnostic="Data-dependent")) is Verdict.stale
    assert verdict(table, result(diagnostic="")) is Verdict.stale


def test_an_entry_speaks_only_of_its_trial_and_versions(tmp_path):
    table = load(tmp_path, entry(when="torch>=2.13"))
    assert verdict(table, result()) is Verdict.unexpected
    table = load(tmp_path, entry(when="torch<2.13 and device==cpu"))
    assert verdict(table, result()) is Verdict.expected
    for other in (
        {"frontend": "ts"},
        {"target": "ncnn"},
        {"case": "torch_topk"},
        {"device": "cuda"},
    ):
        assert verdict(table, result(**other)) is Verdict.unexpected
        assert verdict(table, result(Outcome.passed, **other)) is Verdict.ok


def test_every_sentence_names_the_entry(tmp_path):
    (expectation,) = load(tmp_path, entry()).entries
    stale = [
        result(Outcome.passed),
        result(Outcome.crashed),
        result(stage=Stage.infer),
        result(diagnostic="something else"),
    ]
    for given in stale:
        judgement = judge(given, expectation)
        assert judgement.verdict is Verdict.stale
        assert expectation.place in judgement.why
        assert judgement.expectation is expectation
    assert judge(result(), expectation).why == expectation.reason


def test_exit_status(tmp_path):
    (expectation,) = load(tmp_path, entry()).entries
    ok = judge(result(Outcome.passed), None).verdict
    expected = judge(result(), expectation).verdict
    unexpected = judge(result(), None).verdict
    stale = judge(result(Outcome.passed), expectation).verdict
    assert exit_status([]) == 0
    assert exit_status([ok, expected]) == 0
    assert exit_status([ok, unexpected]) == 1
    assert exit_status([ok, stale]) == 1
    assert exit_status([ok], missing=1) == 3
    assert exit_status([unexpected, stale], missing=2) == 3
