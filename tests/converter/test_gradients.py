"""Weights in the generated module take a gradient where the model's do."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from suites.frontends import import_generated
from suites.testing import check


class Gradients(nn.Module):
    """Weights that take a gradient, and others; products of both kinds."""

    def __init__(self) -> None:
        super().__init__()
        self.trained = nn.Parameter(torch.rand(8, 33))
        self.frozen = nn.Parameter(torch.rand(8, 33), requires_grad=False)
        self.register_buffer("mask", torch.rand(5, 5))
        self.fixed = nn.Linear(33, 7, bias=False).requires_grad_(False)
        self.layer = nn.Linear(33, 7, bias=False)

    def forward(self, x: torch.Tensor, query: torch.Tensor) -> tuple[torch.Tensor, ...]:
        products = (self.trained @ x, self.frozen @ x, self.trained.abs() @ x, self.frozen * 2 @ x)
        layers = self.fixed(x.mT), self.layer(x.mT)
        return *products, *layers, F.scaled_dot_product_attention(query, query, query, self.mask)


@pytest.mark.parametrize("optlevel", [0, 1, 2])
def test_weights_take_a_gradient_where_the_models_do(optlevel: int, tmp_path: Path) -> None:
    """PyTorch computes products of the others with other kernels, even without gradients."""
    torch.manual_seed(0)
    inputs = torch.rand(2, 33, 26), torch.rand(1, 4, 5, 8)
    assert check(Gradients(), inputs, optlevel=optlevel, folder=tmp_path)
    found = dict(import_generated(tmp_path / "model_pnnx.py").Model().named_parameters())
    gradients = {name: weight.requires_grad for name, weight in found.items()}
    assert gradients["trained_data"]
    assert gradients["layer.weight"]
    assert not gradients["frozen_data"]
    assert not gradients["mask_data"]
    assert not gradients["fixed.weight"]
