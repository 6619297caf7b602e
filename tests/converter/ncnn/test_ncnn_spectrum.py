"""Fourier transforms compute what eager does."""

from pathlib import Path

import pytest
import torch
from ncnn_runs import Calls, check

from converter.errors import UnsupportedError

HANN, HAMMING = torch.hann_window(44), torch.hamming_window(64)
RTOL, ATOL = 1e-4, 3e-4
"""A sum of 64 products in single precision, of values up to 4 times the window."""


def _transform(**options: object) -> object:
    return lambda x: torch.stft(x, 64, return_complex=True, **options)


def _pairs(**options: object) -> object:
    return lambda x: torch.view_as_real(torch.stft(x, 64, return_complex=True, **options))


@pytest.mark.parametrize("shape", [(2560,), (3, 2560)])
def test_transforms(shape: tuple[int, ...], tmp_path: Path) -> None:
    torch.manual_seed(0)
    calls = [
        _pairs(window=HANN, win_length=44),
        _pairs(window=HAMMING, hop_length=20, center=False, normalized=True, onesided=True),
        _pairs(pad_mode="constant", onesided=False, window=torch.ones(64)),
        lambda x: _transform(window=HAMMING)(x).abs(),
        lambda x: torch.imag(_transform(window=HAMMING)(x)),
        lambda x: torch.real(_transform(window=HAMMING)(x)),
        lambda x: (_transform(window=HAMMING)(x) / 2.5).abs().pow(2),
    ]
    check(Calls(*calls), torch.randn(shape), folder=tmp_path, rtol=RTOL, atol=ATOL)


def _inverse(**options: object) -> object:
    return lambda x: torch.istft(torch.view_as_complex(x), 64, **options)


@pytest.mark.parametrize("shape", [(33, 61, 2), (3, 33, 61, 2)])
def test_inverses(shape: tuple[int, ...], tmp_path: Path) -> None:
    torch.manual_seed(0)
    calls = [
        _inverse(window=HAMMING, hop_length=16),
        _inverse(window=HAMMING, hop_length=16, center=False),
        _inverse(window=HANN, win_length=44, normalized=True),
    ]
    check(Calls(*calls), torch.randn(shape), folder=tmp_path, rtol=RTOL, atol=ATOL)


def test_other_windows_are_refused(tmp_path: Path) -> None:
    for window in (torch.hann_window(64, periodic=False), torch.rand(64)):
        with pytest.raises(UnsupportedError, match="its window is not expressible in ncnn; use"):
            check(Calls(_pairs(window=window)), torch.randn(2560), folder=tmp_path)


@pytest.mark.vision
def test_waves_of_torchaudio(tmp_path: Path) -> None:
    audio = pytest.importorskip("torchaudio").transforms
    torch.manual_seed(0)
    calls = [
        audio.Spectrogram(64, power=2.0),
        audio.Spectrogram(64, win_length=44, hop_length=16, pad=5, power=1, normalized="window"),
        audio.Spectrogram(
            64, power=1, normalized="frame_length", window_fn=torch.hamming_window, center=False
        ),
        lambda x: torch.view_as_real(audio.Spectrogram(64, power=None, normalized=True)(x)),
    ]
    for shape in [(2560,), (2, 2560), (2, 3, 2560)]:
        check(Calls(*calls), torch.randn(shape), folder=tmp_path, rtol=RTOL, atol=ATOL)
    inverses = [
        audio.InverseSpectrogram(64, hop_length=16),
        audio.InverseSpectrogram(64, win_length=44, normalized="window"),
    ]
    calls = [lambda x, f=inverse: f(torch.view_as_complex(x)) for inverse in inverses]
    check(Calls(*calls), torch.randn(2, 33, 61, 2), folder=tmp_path, rtol=RTOL, atol=ATOL)
