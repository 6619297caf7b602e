"""Random values: drawn anew in each run, in the model's order, with its seeds."""

from __future__ import annotations

import torch
from equality import convert
from torch import nn


class Random(nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return (
            torch.randn(2, 3),
            torch.randn(2, 3),
            x + torch.rand(2, 3),
            torch.rand(3, dtype=torch.float64),
            torch.randn_like(x),
            torch.rand_like(x, dtype=torch.float64),
            torch.randint(7, (5,)),
            torch.randint(-3, 4, (2, 2), dtype=torch.int32),
        )


def test_random_values_follow_the_seed_and_are_not_stored() -> None:
    module, x = Random().eval(), torch.rand(2, 3)
    converted = convert(torch.export.export(module, (x,)))
    for seed in (0, 1):
        torch.manual_seed(seed)
        expected = module(x)
        torch.manual_seed(seed)
        for value, right in zip(converted(x), expected, strict=True):
            torch.testing.assert_close(value, right, rtol=0, atol=0)
