"""What is told of two results that differ, and what may differ under which rule."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from suites.case import Tolerance
from suites.compare import Mismatch, arithmetic, compare, exact, flat, ncnn

NAN, INF = float("nan"), float("inf")


def told(expected, actual, rule=exact) -> str:
    with pytest.raises(Mismatch) as mismatch:
        compare(expected, actual, rule)
    return str(mismatch.value)


def test_equal_nests_pass_whatever_they_hold():
    pair = namedtuple("pair", "values places")
    eager = {"a": [torch.tensor([1.0, NAN, INF, -INF])], "b": (torch.tensor(3), None, 2, True)}
    compare(eager, {"a": [eager["a"][0].clone()], "b": (torch.tensor(3), None, 2, True)}, exact)
    compare(pair(torch.ones(1), torch.ones(2)), (torch.ones(1), torch.ones(2)), exact)
    compare(OrderedDict(x=torch.ones(1)), {"x": torch.ones(1)}, exact)
    compare(torch.empty(0, 3), torch.empty(0, 3), exact)
    compare(torch.tensor([1 + 2j, NAN]), torch.tensor([1 + 2j, NAN]), exact)


@pytest.mark.parametrize(
    ("expected", "actual", "says"),
    [
        ((torch.ones(1),), [torch.ones(1)], "output: eager is a tuple of 1, converted is a list"),
        (
            (torch.ones(1),),
            torch.ones(1),
            "output: eager is a tuple of 1, converted is float32 (1,)",
        ),
        ([torch.ones(1)] * 2, [torch.ones(1)], "eager is a list of 2, converted is a list of 1"),
        ({"a": 1}, {"b": 1}, "output: eager is a dict of 1 (a), converted is a dict of 1 (b)"),
        ({"a": [1, 2]}, {"a": [1, 3]}, "output['a'][1]: eager is int 2, converted is int 3"),
        ((1,), (True,), "output[0]: eager is int 1, converted is bool True"),
        ((1.0, None), (1.0, torch.ones(2)), "output[1]: eager is NoneType None, converted is fl"),
    ],
)
def test_another_structure_is_told(expected, actual, says):
    assert says in told(expected, actual)


@dataclass
class Found:
    boxes: Any
    scores: Any = None


def test_a_dataclass_is_the_dict_of_its_fields():
    boxes, scores = torch.rand(2, 4), torch.rand(2)
    compare([Found(Found(boxes), scores)], [{"boxes": {"boxes": boxes}, "scores": scores}], exact)
    compare(Found(boxes), {"boxes": boxes, "scores": None}, exact)
    assert list(map(id, flat(Found(Found(boxes), scores)))) == [id(boxes), id(scores)]
    for other in ({"boxes": boxes}, {"boxes": boxes, "scores": scores + 1}, (boxes, scores)):
        with pytest.raises(Mismatch):
            compare(Found(boxes, scores), other, exact)


def test_another_dtype_or_shape_is_told_with_both():
    assert told(torch.ones(2, 3), torch.ones(2, 3, dtype=torch.float64)) == (
        "output: eager is float32 (2, 3), converted is float64 (2, 3)"
    )
    assert told((torch.ones(2, 3),), (torch.ones(6),)) == (
        "output[0]: eager is float32 (2, 3), converted is float32 (6,)"
    )
    assert "float32 (), converted is float32 (1,)" in told(torch.tensor(1.0), torch.ones(1))


def test_the_worst_difference_is_told_with_its_place():
    eager = torch.zeros(2, 3) + 4
    converted = eager.clone()
    converted[1, 2] += 1
    converted[0, 1] -= 2
    text = told([eager], [converted])
    assert text.startswith(
        "output[0]: 2 of 6 values differ, at most by 2 (relative 0.5), at (0, 1)"
    )
    assert "eager 4, converted 2; float32 (2, 3)" in text


def test_nans_must_be_in_the_same_places():
    assert told(torch.tensor([1.0, NAN]), torch.tensor([NAN, 1.0])) == (
        "output: other values are NaN: 1 in eager, 1 in converted, first at (0,): eager 1, "
        "converted nan; float32 (2,)"
    )
    wide = Tolerance(1.0, 1e9, "everything finite passes")
    assert "are NaN" in told(torch.ones(2), torch.tensor([1.0, NAN]), lambda _: wide)


@pytest.mark.parametrize("rule", [exact, arithmetic, ncnn])
def test_an_infinity_is_never_near_a_number_or_its_opposite(rule):
    for eager, converted in ((INF, 1e30), (1e30, INF), (INF, -INF)):
        text = told(torch.tensor([eager, 1.0]), torch.tensor([converted, 1.0]), rule)
        assert "1 of 2 values differ, at most by inf" in text


def test_one_bit_is_a_difference_under_the_exact_rule_only():
    eager = torch.rand(64) + 1
    converted = torch.nextafter(eager, torch.tensor(INF))
    told(eager, converted)
    compare(eager, converted, arithmetic)
    compare(eager, converted, ncnn)


@pytest.mark.parametrize("rule", [exact, arithmetic, ncnn])
def test_integers_and_booleans_are_always_exact(rule):
    big = torch.tensor([2**62, 5])
    told(big, big + torch.tensor([1, 0]), rule)
    told(torch.tensor([True, False]), torch.tensor([True, True]), rule)


def test_large_integers_are_not_rounded_before_they_are_compared():
    assert "1 of 1 values differ" in told(torch.tensor([2**62]), torch.tensor([2**62 + 1]))


@given(
    dtype=st.sampled_from([torch.float64, torch.float32, torch.float16, torch.bfloat16]),
    scale=st.sampled_from([1e-4, 1.0, 1e3]),
    seed=st.integers(0, 2**32),
)
@settings(max_examples=40, deadline=None)
def test_the_arithmetic_rule_follows_dtype_and_magnitude(dtype, scale, seed):
    generator = torch.Generator().manual_seed(seed)
    eager = (torch.rand(32, generator=generator, dtype=torch.float64) * scale).to(dtype)
    largest, epsilon = eager.abs().max().double(), torch.finfo(dtype).eps
    half = dtype in (torch.float16, torch.bfloat16)
    near = (eager.double() + (4 if half else 32) * epsilon * largest).to(dtype)
    far = (eager.double() + (32 if half else 2048) * epsilon * largest).to(dtype)
    compare(eager, near, arithmetic)
    told(eager, far, arithmetic)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_the_ncnn_rule_allows_what_16_bits_round(dtype):
    eager = torch.rand(32, dtype=torch.float64).to(dtype)
    largest, epsilon = eager.abs().max().double(), torch.finfo(dtype).eps
    compare(eager, (eager.double() + 3 * epsilon * largest).to(dtype), ncnn)
    told(eager, (eager.double() + 7 * epsilon * largest).to(dtype), ncnn)
    told(eager.float(), eager.float() + 3 * epsilon * largest.float(), ncnn)


def test_a_tolerance_needs_a_reason():
    with pytest.raises(ValueError, match="needs the reason"):
        Tolerance(1e-3, 0, " ")
