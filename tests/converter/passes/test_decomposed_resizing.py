"""Resizing along one or three dims and Fourier transforms of frames, put together again."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F

import converter
from suites.testing import check


class Calls(nn.Module):
    def __init__(self, call: Callable[..., Any]) -> None:
        super().__init__()
        self.call = call
        self.register_buffer("window", torch.hann_window(16))

    def forward(self, *inputs: torch.Tensor) -> Any:
        return self.call(self.window, *inputs)


def resized(window: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return (
        F.interpolate(x, scale_factor=2),
        F.interpolate(x, size=13),
        F.interpolate(x, size=70),
        F.interpolate(x, scale_factor=2, mode="linear"),
        F.interpolate(x, size=5, mode="linear"),
        F.interpolate(x, size=13, mode="linear", align_corners=True),
        F.interpolate(y, size=(6, 4, 9)),
    )


def transformed(window: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> tuple[Any, ...]:
    wave = x.flatten(1)
    return (
        torch.stft(wave, 16, 4, 16, window, return_complex=True).abs(),
        torch.stft(wave, 16, 4, 16, window, center=False, return_complex=True).abs(),
        torch.stft(wave, 16, 8, normalized=True, return_complex=True).abs(),
        torch.stft(wave, 16, 4, 16, window, onesided=False, return_complex=True).abs(),
        torch.stft(wave[0], 16, 4, 16, window, return_complex=True).abs(),
    )


INPUTS = (torch.rand(1, 3, 30), torch.rand(1, 2, 3, 4, 5))


@pytest.mark.parametrize("target", ["pnnx", "ncnn"])
@pytest.mark.parametrize("call", [resized, transformed])
def test_decomposed_functions_convert(call: Any, target: str) -> None:
    assert check(Calls(call), INPUTS, target=target, export="decomposed")


def types(call: Callable[..., Any], folder: Path) -> Counter[str]:
    program = torch.export.export(Calls(call), INPUTS).run_decompositions()
    torch.export.save(program, folder / "m.pt2")
    return Counter(op.type for op in converter.load(folder / "m.pt2").operators)


def test_they_are_the_functions_again(tmp_path: Path) -> None:
    found = types(resized, tmp_path)
    assert (found["F.upsample"], found["F.upsample_nearest"], found["Tensor.index"]) == (6, 1, 0)
    found = types(transformed, tmp_path)
    assert (found["torch.stft"], found["Tensor.unfold"]) == (5, 0)


def test_other_places_stay(tmp_path: Path) -> None:
    """A factor that is not the ratio of the sizes picks other elements than a size does."""
    found = types(
        lambda window, x, y: (
            F.interpolate(x, scale_factor=1.31, recompute_scale_factor=False),
            F.interpolate(x, scale_factor=1.31, mode="linear", recompute_scale_factor=False),
        ),
        tmp_path,
    )
    assert (found["F.upsample"], found["Tensor.index"]) == (0, 3)


def test_what_is_left_of_a_function_is_refused_by_ncnn() -> None:
    call = Calls(lambda window, y: F.interpolate(y[0], scale_factor=2, mode="bicubic"))
    refused = check(call, INPUTS[1:], target="ncnn", export="decomposed")
    assert "indexes several dims by tensors" in refused.why
    assert "or convert the program as it was before run_decompositions()" in refused.why
