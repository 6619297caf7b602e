"""Spectral norm: the weight over its largest singular value."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from graphs import assert_stays, graph
from torch.nn.utils import parametrizations, spectral_norm

from converter.passes.fold_spectral_norm import FoldSpectralNorm
from suites.testing import check

TEXT = """
    pnnx.Attribute  w 0 1 w @data=(4,3,2)f32
    pnnx.Attribute  m 0 1 m @data=(4,6)f32
    pnnx.Attribute  u 0 1 u @data=(4)f32
    {v}
    torch.mv        a 2 1 m v a #a=(4)f32
    {dot}           b 2 1 u a b #b=()f32
    pnnx.Expression d 2 1 w b y expr={formula} #y=(4,3,2)f32
    pnnx.Output     out 1 0 y
"""
STORED, GIVEN = "pnnx.Attribute v 0 1 v @data=(6)f32", "pnnx.Input v 0 1 v #v=(6)f32"


@pytest.mark.parametrize("dot", ["torch.dot", "torch.vdot"])
def test_folds_to_the_weight_over_its_singular_value(dot: str) -> None:
    w = np.random.default_rng(0).standard_normal((4, 3, 2), np.float32)
    left, values, right = np.linalg.svd(w.reshape(4, 6))
    stored = {"w.data": w, "m.data": w.reshape(4, 6), "u.data": left[:, 0], "v.data": right[0]}
    made = graph(TEXT.format(v=STORED, dot=dot, formula="div(@0,@1)"), stored)
    assert FoldSpectralNorm()(made) == 1
    folded = made.operands["y"].stored
    assert folded is not None
    np.testing.assert_allclose(folded.array(), w / values[0], rtol=1e-6)


@pytest.mark.parametrize(("v", "formula"), [(GIVEN, "div(@0,@1)"), (STORED, "div(@1,@0)")])
def test_what_is_no_spectral_norm_stays(v: str, formula: str) -> None:
    assert_stays(FoldSpectralNorm(), TEXT.format(v=v, dot="torch.dot", formula=formula))


class Layers(torch.nn.Module):
    def __init__(self, norm: Callable[[torch.nn.Module], torch.nn.Module]) -> None:
        super().__init__()
        self.conv = norm(torch.nn.Conv2d(4, 6, 3, padding=1, padding_mode="replicate"))
        self.deconv = norm(torch.nn.ConvTranspose2d(6, 4, 3, stride=2, groups=2, bias=False))
        self.linear = norm(torch.nn.Linear(11, 3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(self.deconv(self.conv(x)))


@pytest.mark.parametrize("norm", [spectral_norm, parametrizations.spectral_norm])
@pytest.mark.parametrize(("target", "export"), [("ncnn", "plain"), ("pnnx", "decomposed")])
def test_layers_are_those_of_the_divided_weight(norm: type, target: str, export: str) -> None:
    torch.manual_seed(0)
    module, x = Layers(norm), torch.rand(1, 4, 5, 5)
    assert check(module, (x,), target=target, export=export)


def test_no_operator_of_the_norm_is_left(tmp_path: Path) -> None:
    x = torch.rand(1, 4, 5, 5)
    assert check(Layers(parametrizations.spectral_norm), (x,), export="decomposed", folder=tmp_path)
    lines = (tmp_path / "model.pnnx.param").read_text().splitlines()[2:]
    types = [line.split()[0] for line in lines]
    assert types == [
        "pnnx.Input",
        "nn.Conv2d",
        "nn.ConvTranspose2d",
        "nn.Linear",
        "pnnx.Output",
    ]
