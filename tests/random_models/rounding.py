"""What rounding decides of a model's results: each operator's is nudged, and the model run again.

A jump (`floor`, a mask, the index of the largest) makes a large difference of the last bit of what
it reads, and a sum that cancels leaves nothing else. Who computes the same operators in another
order or by other kernels may differ there and nowhere else: that tells rounding from a mistake.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from suites.compare import Rule, flat

RUNS = 24
"""What jumps when it is nudged does so in half of the runs."""

NUDGE = 16
"""Epsilons of an operator's largest value: more than kernels are off by, so that no value seems
steady that is not."""

SPREAD = 8
"""How often a value may be as far away as the runs were."""

STEADY = 0.1
"""A value tells something where no run was farther away than this share of the largest."""


class Nudged(TorchDispatchMode):
    """Floating results of operators are off by some rounding, but for what is exactly zero."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.generator = torch.Generator().manual_seed(seed)

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        results = func(*args, **(kwargs or {}))
        returned = results if isinstance(results, tuple | list) else (results,)
        for told, result in zip(func._schema.returns, returned, strict=False):
            if told.alias_info is None or told.alias_info.is_write:  # it is no view
                for tensor in pytree.tree_leaves(result):
                    self.nudge(tensor)
        return results

    def nudge(self, tensor: Any) -> None:
        inexact = isinstance(tensor, torch.Tensor) and (
            tensor.is_floating_point() or tensor.is_complex()
        )
        if not inexact or not tensor.numel():
            return
        sizes = tensor.abs()
        finite = sizes.where(sizes.isfinite(), 0)
        noise = torch.rand(tensor.shape, generator=self.generator, dtype=sizes.dtype) * 2 - 1
        noise *= NUDGE * torch.finfo(tensor.dtype).eps * finite.max()
        tensor.add_(noise.where(tensor != 0, 0))


def rounded(
    model: Callable[..., Any], inputs: Callable[[], Sequence[Any]]
) -> list[list[torch.Tensor]]:
    """A model's results one after another, each of all runs with nudged operators."""
    runs = []
    for seed in range(RUNS):
        given = inputs()
        with Nudged(seed), torch.no_grad():
            runs.append(flat(model(*given)))
    return [list(each) for each in zip(*runs, strict=True)]


def judged(
    expected: torch.Tensor, actual: torch.Tensor, runs: Sequence[torch.Tensor], rule: Rule
) -> tuple[int, int]:
    """How many values are wrong, whatever rounding may do, and how many could have been."""
    spread = torch.zeros(expected.shape, dtype=torch.float64)
    for run in runs:
        if run.shape != expected.shape:  # so many are chosen
            return 0, 0
        spread = torch.maximum(spread, distance(expected, run))
    if not expected.is_floating_point() and not expected.is_complex():
        spread[spread > 0] = torch.inf
    allowed = rule(expected)
    size = wide(expected).abs().nan_to_num(0, 0, 0)
    bound = allowed.atol + allowed.rtol * size + SPREAD * spread
    largest = size.max() if size.numel() else 0
    return (
        int((distance(expected, actual) > bound).sum()),
        int((spread <= STEADY * largest).sum()),
    )


def distance(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """How far values are apart: infinitely where one is not finite and the other another."""
    one, other = wide(one), wide(other)
    same = (one == other) | (one.isnan() & other.isnan())
    return (one - other).abs().masked_fill(same, 0).nan_to_num(torch.inf, torch.inf)


def wide(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.to(torch.complex128 if tensor.is_complex() else torch.float64)
