"""Numbers in the place of the first tensor, which PyTorch's functions do not take."""

from __future__ import annotations

import warnings

import torch
from equality import check

x = torch.rand(2, 3)


def test_numbers_in_the_place_of_the_first_tensor() -> None:
    check(
        "torch.div(16, 3, rounding_mode='trunc')",
        "torch.div(16.0, 3, rounding_mode='trunc')",
        "torch.div(16, 3)",
        "x + torch.div(16, 3)",
        "torch.div(7, x, rounding_mode='trunc')",
        "torch.div(7.5, half)",
        "torch.mul(2, x)",
        "torch.mul(2.5, ints)",
        "torch.sub(16, 1) - x",
        "torch.add(True, x)",
        x=x,
        half=x.half(),
        ints=(x * 10).int(),
    )


def test_numbers_beyond_a_dtype_are_infinite_without_a_word() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        check("torch.div(1e300, x)", "torch.div(-1e300, x.half())", x=torch.rand(2) + 1)
