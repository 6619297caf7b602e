"""Inputs are drawn as generated modules draw them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from suites.case import Input, case
from suites.inputs import draw, save


def specs(*inputs):
    from suites.case import CASES

    class drawn_case: ...

    case(inputs=inputs)(drawn_case)
    return CASES.pop("drawn_case").inputs


def test_every_dtype_is_drawn_in_the_order_of_the_arguments():
    drawn = draw(
        specs((2, 3), Input((4,), "int64"), Input((2,), "complex64"), Input((3,), "float16"), ())
    )
    torch.manual_seed(0)
    expected = (
        torch.rand(2, 3),
        torch.randint(10, (4,)),
        torch.rand(2, dtype=torch.complex64),
        torch.rand(3, dtype=torch.float16),
        torch.rand(()),
    )
    for one, other in zip(drawn, expected, strict=True):
        assert one.dtype == other.dtype
        assert torch.equal(one, other)


def test_nests_are_drawn_from_the_inside_in_order():
    pair, table, last = draw(specs([(2,), (2,)], {"b": (3,), "a": [(1,)]}, (2,)))
    torch.manual_seed(0)
    flat = [torch.rand(2), torch.rand(2), torch.rand(3), torch.rand(1), torch.rand(2)]
    drawn = [*pair, table["b"], table["a"][0], last]
    assert all(torch.equal(one, other) for one, other in zip(drawn, flat, strict=True))


def test_each_use_gets_tensors_of_its_own_with_the_same_numbers_and_the_same_state_after():
    wanted = specs((5,), Input((5,), "int32"))
    first = draw(wanted)
    after = torch.rand(3)
    first[0].zero_()
    second = draw(wanted)
    assert not torch.equal(first[0], second[0])
    assert torch.equal(after, torch.rand(3))


def test_booleans_are_refused():
    with pytest.raises(ValueError, match="cannot draw booleans; compare a float"):
        Input((2,), "bool")


@pytest.mark.parametrize("nest", ["(1, 2)", (1, 2.5), ((1,), 2), 3, None])
def test_what_is_no_spec_is_refused(nest):
    with pytest.raises(TypeError, match="is not a shape, an Input, or a tuple, list"):
        case(inputs=[nest])


def test_inputs_are_saved_in_the_order_of_their_leaves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    nest = draw([(Input((2,)), [Input((), "int64")]), {"b": Input((1,)), "a": Input((3,))}])
    save(["0.npy", "1.npy", "2.npy", "3.npy"], nest)
    saved = [torch.from_numpy(np.load(f"{place}.npy")) for place in range(4)]
    (x, [n]), named = nest
    assert all(map(torch.equal, saved, [x, n, named["b"], named["a"]]))
    assert isinstance(nest[0], tuple)
