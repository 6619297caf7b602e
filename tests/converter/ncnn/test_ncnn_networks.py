"""Small networks as phones run them, exported, converted and run by ncnn beside eager."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from suites.testing import check

nn, F = torch.nn, torch.nn.functional


class Mobile(nn.Module):
    """Convolutions with batch-norms, squeeze and excitation, a linear head."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.BatchNorm2d(8), nn.Hardswish())
        self.depth = nn.Sequential(
            nn.Conv2d(8, 8, 3, 1, 1, groups=8), nn.BatchNorm2d(8), nn.ReLU6()
        )
        self.squeeze, self.excite = nn.Conv2d(8, 2, 1), nn.Conv2d(2, 8, 1)
        self.head = nn.Linear(8, 5)

    def forward(self, x: Any) -> Any:
        x = self.stem(x)
        x = x + self.depth(x)
        x = x * F.hardsigmoid(self.excite(F.relu(self.squeeze(x.mean((2, 3), keepdim=True)))))
        return self.head(x.mean((2, 3))).softmax(-1)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("model", [Mobile, lambda: nn.TransformerEncoderLayer(16, 2, 32)])
def test_networks_of_16_bits(model: Any, dtype: Any) -> None:
    torch.manual_seed(0)
    shape = (1, 3, 32, 24) if model is Mobile else (5, 1, 16)
    assert check(model().to(dtype), (torch.rand(shape).to(dtype),), target="ncnn")


class Transformer(nn.Module):
    """A spatial transformer, and a warp by a grid of its own."""

    def __init__(self, corners: bool) -> None:
        super().__init__()
        self.place = nn.Sequential(nn.Conv2d(1, 4, 5, 2), nn.ReLU(), nn.Flatten(), nn.Linear(48, 6))
        self.corners = corners

    def forward(self, x: Any) -> Any:
        theta = self.place(x).view(-1, 2, 3)
        grid = F.affine_grid(theta, x.size(), align_corners=self.corners)
        moved = F.grid_sample(x, grid, align_corners=self.corners)
        across = torch.linspace(-1, 1, 11).view(1, 1, 11).expand(1, 9, 11)
        down = torch.linspace(-0.9, 0.7, 9).view(1, 9, 1).expand(1, 9, 11)
        warp = torch.stack([across, down + torch.arange(0.5, 6, 0.5) / 40], -1)
        return moved, F.grid_sample(x, warp, padding_mode="border", align_corners=True)


@pytest.mark.parametrize("corners", [False, True])
def test_networks_that_warp(corners: bool) -> None:
    torch.manual_seed(0)
    assert check(Transformer(corners), (torch.rand(1, 1, 9, 11),), target="ncnn")


class Affine(nn.Module):
    def __init__(self, size: tuple[int, ...], corners: bool) -> None:
        super().__init__()
        self.size, self.corners = size, corners

    def forward(self, theta: Any) -> Any:
        return F.affine_grid(theta, self.size, align_corners=self.corners)


@pytest.mark.parametrize("corners", [False, True])
@pytest.mark.parametrize("size", [(1, 1, 4, 6), (2, 3, 1, 5), (1, 1, 2, 3, 4)])
def test_grids_by_matrices(size: tuple[int, ...], corners: bool) -> None:
    rank = len(size) - 2
    theta = torch.rand(size[0], rank, rank + 1)
    assert check(Affine(size, corners), (theta,), target="ncnn")


class Spectra(nn.Module):
    """Views of complex numbers, which ncnn has as pairs."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("window", torch.hann_window(16))

    def spectra(self, x: Any) -> Any:
        return torch.stft(x, 16, 4, 16, self.window, return_complex=True)

    def forward(self, x: Any) -> Any:
        spectra = self.spectra(x)
        turned = torch.view_as_real(spectra.transpose(1, 2))
        return spectra.squeeze(0).abs(), turned, spectra.flatten(1).abs(), spectra[None].abs()


class Sliced(Spectra):
    def forward(self, x: Any) -> Any:
        return self.spectra(x)[:, 1:].abs()


def test_complex_numbers_move_as_pairs_or_not_at_all() -> None:
    waves = (torch.rand(1, 64),)
    assert check(Spectra(), waves, target="ncnn")
    assert "moves complex numbers" in check(Sliced(), waves, target="ncnn").why
