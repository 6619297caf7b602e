"""Trials end to end: stages, outcomes and diagnostics. Each runs torch, and most run pnnx."""

from __future__ import annotations

import os
import zlib

import pytest
import torch
import torch.nn as nn

from suites import execute, registry
from suites.case import CASES, Input, Missing, case
from suites.execute import TOLD, run_trial, run_trials
from suites.frontends import FRONTENDS
from suites.trial import Outcome, Stage, Trial


class Doubled(nn.Module):
    def forward(self, x):
        return x * 2


class Nested(nn.Module):
    def forward(self, pair, table):
        return pair[0] + pair[1], table["n"] * 2


class Halved(nn.Module):
    """Another number at each call: what was traced is not what eager gave."""

    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return x / self.calls


class Unbuildable(nn.Module):
    def __init__(self):
        raise ZeroDivisionError("no such model")


class Absent(nn.Module):
    def __init__(self):
        raise Missing("this library has no such model")


class Leaving(nn.Module):
    def forward(self, x):
        raise SystemExit(3)


class Chatty(nn.Module):
    def forward(self, x):
        raise ValueError("loud " * TOLD)


class DataDependent(nn.Module):
    def forward(self, x):
        return x * 2 if x.sum() > 1 else x * 3


class Unexported(nn.Module):
    """A dict among the results: torch.jit.trace refuses it unless it is told not to be strict."""

    def forward(self, x):
        return {"x": x}


class Unconverted(nn.Module):
    """An operator that pnnx leaves as it is, so that the generated module is no Python."""

    def forward(self, x):
        return torch.special.bessel_j0(x)


@torch.library.custom_op("test_execute::doubled", mutates_args=())
def doubled(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@doubled.register_fake
def _(x):
    return torch.empty_like(x)


class Foreign(nn.Module):
    """An operator that is not PyTorch's own."""

    def forward(self, x):
        return doubled(x)


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Run a class of this file as a case."""

    def run(cls, frontend="ts", device="cpu", needs=(), inputs=((2, 3),), stages=None):
        monkeypatch.setitem(CASES, cls.__name__, None)
        del CASES[cls.__name__]
        case(inputs=inputs, needs=needs)(cls)
        info = registry.CaseInfo(cls.__name__, "tests", "", 1, needs, ("pnnx",), ("cpu",), 60.0)
        monkeypatch.setattr(execute, "index", lambda: {cls.__name__: info})
        trial = Trial(cls.__name__, "here", frontend, "pnnx", device)
        return run_trial(trial, tmp_path, (lambda stage: None) if stages is None else stages.append)

    return run


@pytest.mark.parametrize("frontend", ["ts", "pt2"])
def test_a_trial_passes_through_every_stage(run, frontend, tmp_path):
    stages, before = [], os.getcwd()
    result = run(Doubled, frontend, stages=stages)
    assert (result.outcome, result.stage, result.diagnostic) == (Outcome.passed, None, "")
    assert stages == list(Stage)
    assert list(result.seconds) == [stage.value for stage in Stage]
    assert all(seconds > 0 for seconds in result.seconds.values())
    assert os.getcwd() == before
    assert (tmp_path / "Doubled_pnnx.py").is_file()


def test_inputs_may_be_nested(run):
    nest = [[(2, 3), (2, 3)], {"n": Input((4,), "int64")}]
    assert run(Nested, "pt2", inputs=nest).outcome is Outcome.passed


def test_what_differs_is_a_finding_without_a_traceback(run):
    result = run(Halved)
    assert (result.outcome, result.stage) == (Outcome.failed, Stage.compare)
    assert result.diagnostic.startswith("Mismatch: output: 6 of 6 values differ")
    assert "File" not in result.diagnostic


@pytest.mark.parametrize(
    ("cls", "frontend", "stage", "says"),
    [
        (Unbuildable, "ts", Stage.build, "ZeroDivisionError: no such model\n"),
        (Leaving, "ts", Stage.eager, "SystemExit: 3\n"),
        (DataDependent, "pt2", Stage.export, "GuardOnDataDependentSymNode"),
        (Unexported, "ts", Stage.export, "RuntimeError: Encountering a dict"),
        (Foreign, "pt2", Stage.convert, "test_execute.doubled"),
        (Unconverted, "ts", Stage.load, "SyntaxError: invalid syntax"),
    ],
)
def test_a_failure_is_told_with_its_stage_message_first(run, cls, frontend, stage, says):
    result = run(cls, frontend)
    assert (result.outcome, result.stage) == (Outcome.failed, stage)
    assert says in result.diagnostic
    assert list(result.seconds)[-1] == stage.value


def test_a_diagnostic_is_bounded_and_keeps_both_ends(run):
    diagnostic = run(Chatty).diagnostic
    assert len(diagnostic) <= TOLD
    assert diagnostic.startswith("ValueError: loud loud")
    assert diagnostic.rstrip().endswith('raise ValueError("loud " * TOLD)')


@pytest.mark.parametrize(
    ("cls", "arguments", "says"),
    [
        (Absent, {}, "this library has no such model"),
        (
            Doubled,
            {"needs": ("no-such-package>=2",)},
            "needs no-such-package>=2, which this environment lacks",
        ),
        (Doubled, {"needs": ("torch<1",)}, f"has torch {torch.__version__}"),
        pytest.param(
            Doubled,
            {"device": "cuda"},
            "needs a CUDA device, which this machine lacks",
            marks=pytest.mark.skipif(torch.cuda.is_available(), reason="has a CUDA device"),
        ),
    ],
)
def test_what_the_environment_lacks_is_skipped(run, cls, arguments, says):
    result = run(cls, **arguments)
    assert (result.outcome, result.stage) == (Outcome.skipped, Stage.build)
    assert says in result.diagnostic


def test_a_trial_keeps_the_graph_that_it_converted_to(run, tmp_path):
    """Also where what came of it was wrong; not where there is none yet."""
    for cls in (Doubled, Halved, Unconverted):
        text = zlib.decompress(run(cls).graph)
        assert text == (tmp_path / f"{cls.__name__}.pnnx.param").read_bytes()
        assert text.startswith(b"7767517\n")
    assert run(Foreign, "pt2").graph == b""
    assert run(Leaving).graph == b""


class Inverse(nn.Module):
    """What ncnn has no layer for."""

    def forward(self, x):
        return torch.linalg.inv(x)


def test_what_one_target_refuses_spares_the_other(run, tmp_path):
    run(Inverse, "pt2", inputs=((3, 3),))
    trials = [Trial("Inverse", "here", "pt2", target) for target in ("pnnx", "ncnn")]
    pnnx, ncnn = run_trials(trials, tmp_path)
    assert pnnx.outcome is Outcome.passed
    assert (ncnn.outcome, ncnn.stage) == (Outcome.failed, Stage.convert)
    assert "torch.linalg.inv" in ncnn.diagnostic or "torch.inverse" in ncnn.diagnostic
    assert list(ncnn.seconds) == [Stage.build, Stage.eager, Stage.export, Stage.convert]
    assert pnnx.seconds[Stage.convert] == ncnn.seconds[Stage.convert]
    (alone,) = run_trials(trials[1:], tmp_path)
    assert (alone.stage, alone.diagnostic) == (ncnn.stage, ncnn.diagnostic)


def test_other_inputs_are_another_conversion(monkeypatch, run, tmp_path):
    run(Doubled, "pt2")
    case(inputs=((2, 3),), ncnn_inputs=((3,),))(Doubled)
    trials = [Trial("Doubled", "here", "pt2", target) for target in ("pnnx", "ncnn")]
    pnnx, ncnn = run_trials(trials, tmp_path)
    assert (pnnx.outcome, ncnn.outcome) == (Outcome.passed, Outcome.passed)
    assert pnnx.seconds[Stage.export] != ncnn.seconds[Stage.export]


@pytest.mark.parametrize("frontend", ["ts", "pt2"])
def test_what_stops_all_targets_at_once_is_tried_for_each(run, tmp_path, monkeypatch, frontend):
    """A fault on the way to one target's files must not be taken for the other's."""
    run(Doubled, frontend)
    way = FRONTENDS[frontend]
    convert = way.convert

    def faulty(self, targets):
        if "ncnn" in targets:
            raise MemoryError("for ncnn's files")
        return convert(self, targets)

    monkeypatch.setattr(way, "convert", faulty)
    trials = [Trial("Doubled", "here", frontend, target) for target in ("pnnx", "ncnn")]
    pnnx, ncnn = run_trials(trials, tmp_path)
    assert pnnx.outcome is Outcome.passed
    assert (ncnn.outcome, ncnn.stage) == (Outcome.failed, Stage.convert)
    assert "for ncnn's files" in ncnn.diagnostic
