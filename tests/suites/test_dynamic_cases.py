"""Cases whose dims stay dynamic: compared at two sizes, through both frontends."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from suites import execute, registry
from suites.case import CASES, Input, case
from suites.execute import run_trial
from suites.inputs import second_inputs
from suites.trial import Outcome, Stage, Trial


class Sized(nn.Module):
    def forward(self, x, n):
        length = x.shape[1]
        return x.reshape(x.size(0), -1), x[:, : length // 2], torch.zeros(length, 2), n + length


class Traced(nn.Module):
    """What is worked out in Python is a constant to torch.jit.trace, and one to torch.export."""

    def forward(self, x, n):
        return x * float(int(x.shape[1])), n


class Unexported(nn.Module):
    def forward(self, x, n):
        return x + torch.ones(6, 3), n


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Run a class of this file as a case whose second dim stays dynamic."""

    def run(cls, frontend):
        monkeypatch.setitem(CASES, cls.__name__, None)
        del CASES[cls.__name__]
        inputs = [(2, 6, 3), Input((4,), "int64")]
        case(inputs=inputs, options={"inputshape2": "[2,10,3]f32,[4]i64"})(cls)
        info = registry.CaseInfo(cls.__name__, "tests", "", 1, (), ("pnnx",), ("cpu",), 60.0)
        monkeypatch.setattr(execute, "index", lambda: {cls.__name__: info})
        return run_trial(Trial(cls.__name__, "here", frontend, "pnnx"), tmp_path)

    return run


def test_the_second_inputs_have_the_dtypes_of_the_first(run):
    run(Sized, "pt2")
    assert second_inputs(CASES["Sized"]) == [Input((2, 10, 3)), Input((4,), "int64")]
    assert (
        second_inputs(CASES["Sized"].__class__(**{**vars(CASES["Sized"]), "options": {}})) is None
    )


def test_there_is_one_pair_of_shapes():
    with pytest.raises(ValueError, match="the ncnn target must have the same ones"):
        case(inputs=[(2, 3)], ncnn_inputs=[(3,)], options={"inputshape2": "[4,3]"})


@pytest.mark.parametrize("frontend", ["ts", "pt2"])
def test_both_sizes_pass(run, frontend, tmp_path):
    result = run(Sized, frontend)
    assert (result.outcome, result.diagnostic) == (Outcome.passed, "")
    assert "#0=(2,?,3)f32" in (tmp_path / "Sized.pnnx.param").read_text()


def test_another_value_at_the_second_size_is_found(run):
    result = run(Traced, "ts")
    assert (result.outcome, result.stage) == (Outcome.failed, Stage.compare)
    assert "values differ" in result.diagnostic


def test_a_dim_that_the_export_fixes_is_found(run):
    result = run(Unexported, "pt2")
    assert (result.outcome, result.stage) == (Outcome.failed, Stage.export)
    assert "specialized it to be a constant (6)" in result.diagnostic
