"""Recurrent layers hold the weights that are stored, or that a norm makes of stored ones."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from graphs import graph
from torch import nn
from torch.nn.utils import parametrizations, weight_norm

from converter.errors import UnsupportedError
from converter.passes.recurrent_weights import RecurrentWeights
from suites.testing import check


def test_they_are_held_in_their_order() -> None:
    made = graph("""
        pnnx.Input     x 0 1 x #x=(5,1,8)f32
        pnnx.Attribute i 0 1 i @data=(6,8)f32
        pnnx.Attribute h 0 1 h @data=(6,6)f32
        nn.RNN         r 3 1 x i h y $weight_ih_l0=i $weight_hh_l0=h
        pnnx.Output    out 1 0 y
    """)
    assert RecurrentWeights()(made) == 1
    (op,) = made.of_type("nn.RNN")
    assert {name: attr.shape for name, attr in op.attrs.items()} == {
        "weight_ih_l0": (6, 8),
        "weight_hh_l0": (6, 6),
    }
    assert [operand.name for operand in op.inputs] == ["x"]
    assert list(op.attrs) == ["weight_ih_l0", "weight_hh_l0"]
    assert RecurrentWeights()(made) == 0


def normed(norm: Callable[..., nn.Module], module: nn.Module, *names: str, **how: int) -> nn.Module:
    for name in names:
        module = norm(module, name, **how)
    return module


@pytest.mark.parametrize("export", ["plain", "decomposed"])
@pytest.mark.parametrize(
    ("module", "shape"),
    [
        (
            lambda: normed(
                weight_norm,
                nn.LSTM(8, 6, 2, bidirectional=True, proj_size=3),
                "weight_hh_l0",
                "weight_ih_l1_reverse",
                "weight_hr_l0",
            ),
            (5, 1, 8),
        ),
        (lambda: normed(weight_norm, nn.GRU(8, 6), "weight_hh_l0", dim=None), (5, 1, 8)),
        (lambda: normed(parametrizations.weight_norm, nn.RNN(8, 6), "weight_ih_l0"), (5, 1, 8)),
        (lambda: normed(parametrizations.spectral_norm, nn.GRU(8, 6), "weight_hh_l0"), (5, 1, 8)),
        (lambda: normed(parametrizations.weight_norm, nn.LSTMCell(8, 6), "weight_hh"), (1, 8)),
    ],
    ids=["old", "whole", "parametrized", "spectral", "cell"],
)
def test_normed_weights(module: Callable[[], nn.Module], shape: tuple[int, ...], export: str):
    torch.manual_seed(0)
    assert check(module(), (torch.rand(shape),), export=export)


def test_computed_weights_are_refused() -> None:
    class Fast(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.cell = nn.GRUCell(8, 6)

        def forward(self, x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
            cell = self.cell
            return torch.gru_cell(x, torch.zeros(1, 6), w, cell.weight_hh)

    result = check(Fast(), (torch.rand(1, 8), torch.rand(18, 8)))
    assert isinstance(result.error, UnsupportedError)
    assert "nn.GRUCell: weight_ih is computed, not stored" in result.why
    assert "torch.gru_cell(x, torch.zeros(1, 6), w, cell.weight_hh)" in result.why
