"""Short-time Fourier transforms and their inverses.

ncnn has the windows of ones, of Hann and of Hamming, and returns pairs.
"""

import torch
import torch.nn as nn

from suites.case import case


@case(inputs=[(128,), (2, 200)], ncnn_inputs=[(128,)])
class torch_stft(nn.Module):
    """Every window, length and step; centred or not; half or all of the spectrum."""

    def __init__(self):
        super().__init__()
        self.register_buffer("window", torch.hann_window(16))
        self.register_buffer("short", torch.hamming_window(12))
        self.register_buffer("long", torch.hann_window(20))

    def forward(self, x, y=None):
        spectra = (
            torch.view_as_real(torch.stft(x, n_fft=16, window=self.window, return_complex=True)),
            torch.view_as_real(
                torch.stft(
                    x,
                    n_fft=16,
                    hop_length=5,
                    win_length=12,
                    window=self.short,
                    center=False,
                    normalized=True,
                    return_complex=True,
                )
            ),
        )
        if y is None:
            return spectra
        return (
            *spectra,
            torch.stft(x, 20, window=self.long, return_complex=True).abs(),
            torch.stft(y, 32, 8, window=torch.ones(32), pad_mode="constant", return_complex=True),
            torch.stft(x, 16, window=self.window, onesided=False, return_complex=True),
            y.stft(20, pad_mode="replicate", window=self.long, return_complex=True),
            torch.stft(x, 16, return_complex=True),
        )


@case(inputs=[(9, 20, 2), (2, 17, 12, 2)], ncnn_inputs=[(9, 20, 2)])
class torch_istft(nn.Module):
    """Waves from spectra and from what stft made; cut, normalized, and with complex results."""

    def __init__(self):
        super().__init__()
        self.register_buffer("window", torch.hann_window(16))
        self.register_buffer("short", torch.hamming_window(12))
        self.register_buffer("long", torch.hamming_window(32))

    def forward(self, x, y=None):
        waves = (
            torch.istft(torch.view_as_complex(x), n_fft=16, window=self.window),
            torch.istft(torch.view_as_complex(x * 2), 16, 4, 12, self.short, normalized=True),
        )
        if y is None:
            return waves
        y = torch.view_as_complex(y)
        wave = torch.istft(y, n_fft=32, window=self.long)
        again = torch.stft(wave, 16, window=self.window, onesided=False, return_complex=True)
        return (
            *waves,
            torch.istft(y, 32, 8, window=torch.ones(32), length=70),
            torch.istft(y, 32, window=self.long, center=True, onesided=True),
            again.istft(16, window=self.window, onesided=False, return_complex=True),
            wave,
        )
