"""Spectrograms of torchaudio and their inverses, as functions and as modules.

ncnn has no power but 1 and 2, inverts half spectra only, and takes complex numbers as pairs. pnnx
makes a layer of pairs that one inverse reads.
"""

import torch
import torch.nn as nn
import torchaudio.functional as F
from torchaudio.transforms import InverseSpectrogram, Spectrogram

from suites.case import case

WAVES = [(3, 260), (1, 2, 260), (260,)]
MONO = [(1, 260), (2, 260)]


def spectrogram(waveform, window, n_fft=64, hop=16, pad=0, power=None, normalized=False, **options):
    length = len(window)
    return F.spectrogram(waveform, pad, window, n_fft, hop, length, power, normalized, **options)


class Windows(nn.Module):
    """As long as a frame of 64, or shorter; ncnn has these two kinds."""

    def __init__(self):
        super().__init__()
        self.register_buffer("hann", torch.hann_window(64))
        self.register_buffer("short", torch.hamming_window(44))


@case(inputs=WAVES, ncnn_inputs=MONO)
class torchaudio_F_spectrogram(Windows):
    """Squares of magnitudes, and complex: each normalization, padding, half or whole spectra."""

    def forward(self, x, y, z=None):
        squares = (
            spectrogram(x, self.hann, power=2),
            spectrogram(x, self.short, hop=20, power=2, center=False, normalized=True),
            spectrogram(y, self.hann, pad=9, power=2, pad_mode="constant", onesided=False),
            spectrogram(y, self.short, hop=11, power=2, normalized="frame_length"),
        )
        spectra = (
            spectrogram(x, self.hann),
            spectrogram(x, self.hann, normalized="window"),
            spectrogram(y, self.short, normalized="frame_length", center=False),
        )
        if z is None:
            return (*squares, *map(torch.view_as_real, spectra))
        return (
            *squares,
            *spectra,
            spectrogram(z, self.hann, power=2.0, pad_mode="replicate"),
            spectrogram(z, self.hann, power=0.5),
            spectrogram(z, torch.ones(64), hop=32, normalized=True, onesided=False),
        )


@case(inputs=WAVES, targets=("pnnx", "ncnn"), proves=("torchaudio.functional.spectrogram",))
class torchaudio_F_spectrogram_power1(Windows):
    """Magnitudes: each normalization, padding, half or whole spectra."""

    def forward(self, x, y, z=None):
        magnitudes = (
            spectrogram(x, self.hann, power=1),
            spectrogram(x, self.short, hop=20, power=1.0, center=False, normalized=True),
            spectrogram(y, self.hann, pad=9, power=1, pad_mode="constant", onesided=False),
            spectrogram(y, self.short, hop=11, power=1, normalized="frame_length"),
        )
        if z is None:
            return magnitudes
        last = spectrogram(z, self.hann, power=1, pad_mode="replicate", normalized="window")
        return (*magnitudes, last)


@case(inputs=WAVES, ncnn_inputs=MONO)
class torchaudio_Spectrogram(nn.Module):
    """Modules with windows of their own; without any arguments, squares of 201 frequencies."""

    def __init__(self):
        super().__init__()
        self.plain = Spectrogram(64)
        self.short = Spectrogram(64, 44, 16, pad=8, window_fn=torch.hamming_window, normalized=True)
        self.complex = Spectrogram(32, win_length=24, power=None, normalized="frame_length")
        self.window = Spectrogram(50, power=None, center=False, normalized="window")
        self.whole = Spectrogram(40, power=2.0, pad_mode="constant", onesided=False)
        self.default = Spectrogram(wkwargs={"periodic": False})

    def forward(self, x, y, z=None):
        squares = self.plain(x), self.short(x), self.whole(y)
        spectra = self.complex(x), self.window(y)
        if z is None:
            return (*squares, *map(torch.view_as_real, spectra))
        return (*squares, *spectra, self.plain(z), self.default(z), self.complex(z))


@case(inputs=WAVES, targets=("pnnx", "ncnn"), proves=("torchaudio.transforms.Spectrogram",))
class torchaudio_Spectrogram_power1(nn.Module):
    """Modules that return magnitudes."""

    def __init__(self):
        super().__init__()
        self.plain = Spectrogram(64, power=1)
        self.short = Spectrogram(
            64, 44, 16, pad=8, window_fn=torch.hamming_window, power=1.0, normalized=True
        )
        self.frame = Spectrogram(32, 24, power=1.0, center=False, normalized="frame_length")
        self.whole = Spectrogram(40, power=1, pad_mode="replicate", onesided=False)

    def forward(self, x, y, z=None):
        magnitudes = self.plain(x), self.short(x), self.frame(y)
        return magnitudes if z is None else (*magnitudes, self.whole(y), self.plain(z))


def wave(pairs, window, length=None, n_fft=64, hop=16, pad=0, normalized=False, **options):
    spectrum = torch.view_as_complex(pairs)
    return F.inverse_spectrogram(
        spectrum, length, pad, window, n_fft, hop, len(window), normalized, **options
    )


@case(
    inputs=[(3, 33, 15, 2), (1, 33, 15, 2), (33, 12, 2), (2, 33, 12, 2), (1, 2, 33, 12, 2)],
    ncnn_inputs=[(3, 33, 15, 2), (1, 33, 15, 2), (33, 12, 2), (2, 33, 12, 2)],
)
class torchaudio_F_inverse_spectrogram(Windows):
    """Waves from spectra: each normalization; cut to a length, and padding cut off; whole ones."""

    def forward(self, a, b, c, d, e=None):
        waves = (
            wave(a, self.hann),
            wave(b, self.short, hop=11, normalized=True),
            wave(c, self.hann, normalized="window", pad=4),
            wave(d, self.hann, hop=8, normalized="frame_length"),
        )
        if e is None:
            return waves
        whole = spectrogram(waves[0], self.hann, onesided=False)
        return (
            *waves,
            wave(e, self.hann),
            wave(b, self.hann, length=270),
            wave(b, self.hann, length=160, pad=5),
            wave(c, torch.ones(64), center=False),
            wave(torch.view_as_real(whole), self.hann, onesided=False),
        )


@case(
    inputs=[(1, 33, 15, 2), (2, 33, 15, 2), (17, 12, 2), (3, 17, 12, 2), (1, 2, 33, 12, 2)],
    ncnn_inputs=[(1, 33, 15, 2), (2, 33, 15, 2), (17, 12, 2), (3, 17, 12, 2)],
)
class torchaudio_InverseSpectrogram(nn.Module):
    """Modules with windows of their own, which take the length as an argument."""

    def __init__(self):
        super().__init__()
        self.plain = InverseSpectrogram(64)
        self.short = InverseSpectrogram(64, 44, 16, window_fn=torch.hamming_window, normalized=True)
        self.frame = InverseSpectrogram(32, hop_length=8, normalized="frame_length")
        self.window = InverseSpectrogram(32, 24, 6, normalized="window")

    def forward(self, a, b, c, d, e=None):
        a, b, c, d = map(torch.view_as_complex, (a, b, c, d))
        waves = self.plain(a), self.short(b), self.frame(c), self.window(d)
        if e is None:
            return waves
        e = torch.view_as_complex(e)
        return (*waves, self.plain(e), self.plain(e, 300), self.short(e, length=160))
