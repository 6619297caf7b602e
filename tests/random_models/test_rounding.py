"""What rounding decides is told from mistakes, which stay mistakes where a function jumps."""

from __future__ import annotations

import pytest
import torch
import trying
from arguments import Arguments
from compose import RandomModel
from rounding import judged, rounded

from suites.compare import arithmetic, flat
from suites.testing import Verdict

POINTS = torch.tensor([0.5, 1.0, 1.5, 2.0, 2.5, -0.25])


def floors(x):
    return torch.floor(x * 3 / 3)


def seen(model, x=POINTS):
    """Judges values against what a model of one result gives."""
    (runs,) = rounded(model, lambda: (x.clone(),))
    (expected,) = flat(model(x))
    return lambda actual: judged(expected, actual, runs, arithmetic)


def test_a_jump_is_no_mistake_where_rounding_decides_it():
    judge = seen(floors)
    assert judge(torch.tensor([0.0, 0.0, 1.0, 1.0, 2.0, -1.0])) == (0, 4)
    assert judge(torch.tensor([0.0, 1.0, 1.0, 2.0, 2.0, -1.0])) == (0, 4)


@pytest.mark.parametrize("place", [0, 2, 4, 5])
def test_the_other_side_of_a_jump_is_a_mistake_elsewhere(place):
    actual = floors(POINTS)
    actual[place] += 1
    assert seen(floors)(actual) == (1, 4)


def test_an_index_is_another_only_where_two_are_as_large():
    table = torch.tensor([[3.0, 1.0, 3.0], [3.0, 1.0, 2.0]])
    judge = seen(lambda x: (x * 1.5 / 1.5).argmax(1), table)
    assert judge(torch.tensor([2, 0])) == (0, 1)
    assert judge(torch.tensor([2, 1])) == (1, 1)


def test_what_cancels_has_the_error_of_its_terms():
    ones = torch.rand(1, 64) + 1
    judge = seen(lambda x: ((x - x.mean()) / x.std()).sum(), ones)
    assert judge(torch.tensor([1e-5]))[0] == 0
    assert judge(torch.tensor([0.1]))[0] == 1


def test_nan_is_a_mistake_unless_rounding_makes_it():
    square = torch.tensor([1.0, 0.0])
    judge = seen(lambda x: torch.log(x), square)
    assert judge(torch.tensor([0.0, -torch.inf]))[0] == 0
    assert judge(torch.tensor([torch.nan, -torch.inf]))[0] == 1
    assert judge(torch.tensor([0.0, torch.nan]))[0] == 1


def test_writes_are_nudged_and_views_are_not():
    def model(x):
        y = x * 3
        y.view(-1)[:1].add_(1)
        return y, x.view(-1), torch.zeros(3) * x[0, :3]

    x = torch.rand(2, 3)
    product, view, zeros = rounded(model, lambda: (x.clone(),))
    assert any(not torch.equal(run, model(x)[0]) for run in product)
    assert all(torch.equal(run, x.view(-1)) for run in view)
    assert all(not run.any() for run in zeros)


@pytest.fixture
def wrong(monkeypatch):
    """Generated modules compute a little less than they should."""
    load = trying.import_generated

    def broken(path):
        module = load(path)
        forward = module.Model.forward
        module.Model.forward = lambda self, x: forward(self, x) - 0.5 * (x > 0.25)
        return module

    for place in ("trying", "suites.testing"):
        monkeypatch.setattr(f"{place}.import_generated", broken)


JUMPING = RandomModel(
    Arguments({"x0": "torch.arange(1, 9) * 0.125"}, {}),
    {},
    ["v1 = F.softmax(torch.floor(x0 * 2.7), 0) * 2.7"],
    "v1",
)


def test_a_model_that_jumps_passes():
    assert trying.tried(JUMPING, "pnnx", "decomposed").result


def test_a_wrong_model_that_jumps_is_found(wrong):
    assert trying.tried(JUMPING, "pnnx", "decomposed").result.verdict is Verdict.mismatch
