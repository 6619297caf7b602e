"""torchaudio's spectrograms in generated modules, against the definition and each other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from generated import flat, generate, graph_of, load

from converter import convert
from converter.errors import UnsupportedError
from converter.pnnx.param import read_param
from suites.structure import differences

WINDOW = np.hamming(12).astype(np.float32)
SIZES = "center=False hop_length=4 n_fft=16 onesided=True win_length=12"


def run(lines: str, folder: Path, x: torch.Tensor) -> torch.Tensor:
    shape = ",".join(map(str, x.shape))
    lines = f"""
        pnnx.Input in 0 1 x #x=({shape})f32
        pnnx.Attribute window 0 1 w @data=(12)f32 #w=(12)f32
        {lines.strip()}
        pnnx.Output out 1 0 y
    """
    module = generate(graph_of(lines, {"window.data": WINDOW}), folder)
    assert "torchaudio" not in (folder / "m_pnnx.py").read_text()
    with torch.no_grad():
        return flat([module.Model().eval()(x)])[0]


def spectrogram(rest: str) -> str:
    return f"torchaudio.functional.spectrogram s 2 1 x w y {SIZES} {rest} $waveform=x $window=w"


def defined(x: torch.Tensor, pad: int = 0) -> np.ndarray:
    """Frames times the window, in the middle of a frame, and their Fourier transforms."""
    waves = np.pad(x.double().numpy(), [(0, 0)] * (x.dim() - 1) + [(pad, pad)])
    window = np.pad(WINDOW.astype(np.float64), 2)
    frames = np.lib.stride_tricks.sliding_window_view(waves, 16, axis=-1)[..., ::4, :]
    return np.fft.rfft(frames * window).swapaxes(-1, -2)


NORM = np.sqrt((WINDOW.astype(np.float64) ** 2).sum())


@pytest.mark.parametrize("shape", [(40,), (3, 40), (2, 1, 3, 40)])
@pytest.mark.parametrize(
    ("rest", "pad", "value"),
    [
        ("normalized=False pad=0 power=None", 0, lambda s: s),
        ("normalized=frame_length pad=0 power=None", 0, lambda s: s / 4),
        ("normalized=window pad=0 power=None", 0, lambda s: s / NORM),
        ("normalized=True pad=5 power=1", 5, lambda s: abs(s) / NORM),
        ("normalized=False pad=3 power=2", 3, lambda s: abs(s) ** 2),
        ("normalized=False pad=0 power=0.5", 0, lambda s: abs(s) ** 0.5),
    ],
)
def test_spectrogram(tmp_path, shape, rest, pad, value):
    x = torch.rand(shape)
    made = run(spectrogram(rest), tmp_path, x)
    np.testing.assert_allclose(made.numpy(), value(defined(x, pad)), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("normalized", ["False", "True", "window", "frame_length"])
@pytest.mark.parametrize(
    ("length", "pad", "part"),
    [("None", 0, slice(0, 40)), ("40", 0, slice(0, 40)), ("30", 5, slice(5, 35))],
)
def test_the_inverse_gives_the_waves_back(tmp_path, normalized, length, pad, part):
    x = torch.rand(2, 3, 40)
    sizes = SIZES.replace("center=False", "center=True")
    lines = f"""
        torchaudio.functional.spectrogram s 2 1 x w s {sizes} normalized={normalized} pad=0 pad_mode=reflect power=None $waveform=x $window=w
        torchaudio.functional.inverse_spectrogram i 2 1 s w y {sizes} length={length} normalized={normalized} pad={pad} $spectrogram=s $window=w
    """  # noqa: E501
    torch.testing.assert_close(run(lines, tmp_path, x), x[..., part], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("rest", "error"),
    [
        ("normalized=other", "not normalized by the window or by frame_length"),
        ("pad=a", "its pad is 'a', not a number"),
        ("squared=True", "an argument that torchaudio's function has not"),
    ],
)
def test_other_arguments_are_refused(tmp_path, rest, error):
    with pytest.raises(UnsupportedError, match=error):
        run(spectrogram(rest), tmp_path, torch.rand(40))


class ByHand(torch.nn.Module):
    """What torchaudio composes, without torchaudio."""

    def __init__(self):
        super().__init__()
        self.register_buffer("window", torch.hann_window(64))

    def forward(self, x):
        packed = torch.stft(x.reshape(-1, 260), 64, 16, window=self.window, return_complex=True)
        spectra = packed.reshape(3, 4, 33, -1)
        waves = torch.istft(spectra.reshape(12, 33, -1), 64, 16, window=self.window)
        return spectra, spectra.abs(), spectra.abs().pow(2), waves.reshape(3, 4, -1)


def test_what_it_exports_of_itself_is_the_same_graph(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    x = torch.rand(3, 4, 260)
    torch.export.save(torch.export.export(ByHand(), (x,)), "m.pt2")
    convert("m.pt2")
    first = read_param((tmp_path / "m.pnnx.param").read_text(), "m.pnnx.param")
    assert "torchaudio.functional.inverse_spectrogram" in {op.type for op in first.operators}
    module = load(tmp_path / "m_pnnx.py")
    for made, expected in zip(module.Model().eval()(x), ByHand()(x), strict=True):
        assert torch.equal(made, expected)
    module.export_exported_program()
    convert("m_pnnx.py.pt2")
    again = read_param((tmp_path / "m_pnnx.py.pnnx.param").read_text(), "again")
    assert list(differences(first, again)) == []
