"""Tensors that are made of sizes and numbers, and random ones."""

from __future__ import annotations

import pytest
import torch
from equality import check, refusal, words

x = torch.rand(2, 3)
ints = torch.arange(6).reshape(2, 3)


def test_constants() -> None:
    check(
        "torch.zeros(2, 3), torch.zeros(2, 3, dtype=torch.int), torch.zeros(()), torch.zeros(0, 2)",
        "torch.ones(2), torch.ones(2, dtype=torch.bool), torch.full((2, 3), 1.5)",
        "torch.full((2,), 3)",
        "torch.full((), True), torch.full((2,), 0.1, dtype=torch.half), torch.full((2,), 1 + 2j)",
        "torch.full((2,), 1.00390626, dtype=torch.bfloat16)",
        "torch.full((2,), -3.7, dtype=torch.long)",
        "torch.full((2,), float('-inf')), torch.full((2,), float('nan'), dtype=torch.double)",
        "torch.zeros_like(x), torch.ones_like(x, dtype=torch.long), torch.full_like(x, 2)",
        "torch.full_like(ints, 2)",
        "x.new_zeros(3), x.new_ones(2, 2), x.new_full((2,), 3), ints.new_full((1,), 4)",
        "x.new_zeros(2, dtype=torch.int)",
        "torch.empty(2).fill_(1), torch.empty_like(x).zero_(), x.new_empty(3, 1).fill_(2.5)",
        "torch.eye(3), torch.eye(2, 4, dtype=torch.half), torch.tensor([1.0, 2.0])",
        "torch.tensor(3)",
        "torch.tensor([[True], [False]]), torch.scalar_tensor(2)",
        "torch.tensor(2.5, dtype=torch.half)",
        "torch.tril_indices(3, 4), torch.tril_indices(3, 4, -1)",
        "torch.triu_indices(4, 3, 1, dtype=torch.int)",
        x=x,
        ints=ints,
    )


def test_ranges() -> None:
    check(
        "torch.arange(5), torch.arange(2, 9), torch.arange(2, 9, 3), torch.arange(9, 2, -2)",
        "torch.arange(0)",
        "torch.arange(5.0), torch.arange(0.5, 3), torch.arange(0, 1, 0.1)",
        "torch.arange(3, dtype=torch.float)",
        "torch.arange(1, 20, dtype=torch.half), torch.arange(0, 1, 0.01, dtype=torch.double)",
        "torch.arange(3000, dtype=torch.half), torch.arange(300, dtype=torch.bfloat16)",
        "torch.arange(x.shape[1])",
        "torch.arange(2**40, 2**40 + 3), torch.arange(-3.0, 3.0, dtype=torch.long)",
        "torch.arange(10, dtype=torch.int)",
        "torch.linspace(0, 1, 7), torch.linspace(-1, 1, 4, dtype=torch.double)",
        "torch.linspace(3, 10, 1)",
        "torch.linspace(x[0, 0], 1, 3), torch.linspace(0, x[0, 0], 3)",
        "torch.linspace(x[0, 0], x[0, 1], 3)",
        "torch.logspace(0, 1, 5), torch.logspace(0, 3, 4, base=2), torch.logspace(x[0, 0], 1, 3)",
        "torch.fft.fftfreq(5), torch.fft.rfftfreq(6, d=0.5)",
        "torch.fft.fftfreq(4, dtype=torch.double)",
        x=x,
    )


def test_windows() -> None:
    check(
        *[
            f"torch.{name}_window(8{more})"
            for name in words("bartlett blackman hann hamming kaiser")
            for more in ("", ", periodic=False", ", dtype=torch.double")
        ],
        "torch.hamming_window(8, True, 0.6), torch.hamming_window(8, True, 0.6, 0.3)",
        "torch.kaiser_window(8, True, 6.0), x * 2",
        x=x,
    )


def test_what_is_too_large() -> None:
    assert "more than 1073741824" in refusal("torch.zeros(1 << 15, 1 << 15) + x[0, 0]", x=x)


@pytest.mark.parametrize(
    "expression",
    words("torch.bernoulli(x) torch.multinomial(x,2) torch.poisson(x) torch.randperm(4)+ints[0,0]"),
)
def test_random_values_are_refused(expression: str) -> None:
    assert "it is random" in refusal(expression, x=x, ints=ints)
