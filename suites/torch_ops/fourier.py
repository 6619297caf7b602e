"""Fourier transforms of one, two and several dims: other sizes, other dims, each normalization."""

import torch
import torch.nn as nn

from suites.case import Input, case

REAL = [(16,), (3, 15), (2, 3, 12, 10), Input((3, 8), "float64")]
COMPLEX = [
    Input((16,), "complex64"),
    Input((3, 15), "complex64"),
    Input((2, 3, 12, 10), "complex64"),
    Input((3, 8), "complex128"),
]
REAL_IMAGES = [(4, 12), (3, 8, 10), (2, 3, 8, 10), Input((5, 6), "float64")]
COMPLEX_IMAGES = [
    Input((4, 12), "complex64"),
    Input((3, 8, 10), "complex64"),
    Input((2, 3, 8, 10), "complex64"),
    Input((5, 6), "complex128"),
]
MIXED = [(16,), COMPLEX[1], (2, 3, 12, 10), COMPLEX[3]]
MIXED_IMAGES = [(4, 12), COMPLEX_IMAGES[1], (2, 3, 8, 10), COMPLEX_IMAGES[3]]


def along_one(transform, x, y, z, d):
    """The default, padded, cut, along each kind of dim, by each normalization."""
    return (
        transform(x),
        transform(x, n=20),
        transform(y, 8),
        transform(y, dim=0),
        transform(y, norm="ortho"),
        transform(z, n=9, dim=-2, norm="forward"),
        transform(z, None, 1, "backward"),
        transform(d),
    )


def along_two(transform, x, y, z, d):
    """The default, padded and cut, along each kind of dims, by each normalization."""
    return (
        transform(x),
        transform(x, s=(6, 9)),
        transform(y, (6, 14)),
        transform(y, dim=(0, 2)),
        transform(y, norm="ortho"),
        transform(z, s=(5, 4), dim=(1, -2), norm="forward"),
        transform(z, None, (-1, 1), "backward"),
        transform(d),
    )


def along_several(transform, x, y, z, d):
    """All dims, the last ones that sizes are given for, and chosen ones."""
    return (
        transform(x),
        transform(x, s=(6, 9)),
        transform(y, (14,)),
        transform(y, dim=(0, 2)),
        transform(y, norm="ortho"),
        transform(z, s=(5, 4, 6), dim=(1, -2, 3), norm="forward"),
        transform(z, None, (1,), "backward"),
        transform(z),
        transform(d),
    )


@case(inputs=MIXED)
class torch_fft_fft(nn.Module):
    def forward(self, x, y, z, d):
        return along_one(torch.fft.fft, x, y, z, d)


@case(inputs=MIXED_IMAGES)
class torch_fft_fft2(nn.Module):
    def forward(self, x, y, z, d):
        return along_two(torch.fft.fft2, x, y, z, d)


@case(inputs=MIXED_IMAGES)
class torch_fft_fftn(nn.Module):
    def forward(self, x, y, z, d):
        return along_several(torch.fft.fftn, x, y, z, d)


@case(inputs=MIXED)
class torch_fft_ifft(nn.Module):
    def forward(self, x, y, z, d):
        return along_one(torch.fft.ifft, x, y, z, d)


@case(inputs=MIXED_IMAGES)
class torch_fft_ifft2(nn.Module):
    def forward(self, x, y, z, d):
        return along_two(torch.fft.ifft2, x, y, z, d)


@case(inputs=MIXED_IMAGES)
class torch_fft_ifftn(nn.Module):
    def forward(self, x, y, z, d):
        return along_several(torch.fft.ifftn, x, y, z, d)


@case(inputs=REAL)
class torch_fft_rfft(nn.Module):
    """Of real numbers: the half of the spectrum that tells the other."""

    def forward(self, x, y, z, d):
        return along_one(torch.fft.rfft, x, y, z, d)


@case(inputs=REAL_IMAGES)
class torch_fft_rfft2(nn.Module):
    def forward(self, x, y, z, d):
        return along_two(torch.fft.rfft2, x, y, z, d)


@case(inputs=REAL_IMAGES)
class torch_fft_rfftn(nn.Module):
    def forward(self, x, y, z, d):
        return along_several(torch.fft.rfftn, x, y, z, d)


@case(inputs=COMPLEX)
class torch_fft_irfft(nn.Module):
    """Real numbers from half of their spectrum."""

    def forward(self, x, y, z, d):
        return along_one(torch.fft.irfft, x, y, z, d)


@case(inputs=COMPLEX_IMAGES)
class torch_fft_irfft2(nn.Module):
    def forward(self, x, y, z, d):
        return along_two(torch.fft.irfft2, x, y, z, d)


@case(inputs=COMPLEX_IMAGES)
class torch_fft_irfftn(nn.Module):
    def forward(self, x, y, z, d):
        return along_several(torch.fft.irfftn, x, y, z, d)


@case(inputs=MIXED)
class torch_fft_hfft(nn.Module):
    """The real spectrum of a signal of which half is given, as the other mirrors it."""

    def forward(self, x, y, z, d):
        return along_one(torch.fft.hfft, x, y, z, d)


@case(inputs=MIXED_IMAGES)
class torch_fft_hfft2(nn.Module):
    def forward(self, x, y, z, d):
        return along_two(torch.fft.hfft2, x, y, z, d)


@case(inputs=MIXED_IMAGES)
class torch_fft_hfftn(nn.Module):
    def forward(self, x, y, z, d):
        return along_several(torch.fft.hfftn, x, y, z, d)


@case(inputs=REAL)
class torch_fft_ihfft(nn.Module):
    """Half of the signal whose spectrum is real."""

    def forward(self, x, y, z, d):
        return along_one(torch.fft.ihfft, x, y, z, d)


@case(inputs=REAL_IMAGES)
class torch_fft_ihfft2(nn.Module):
    def forward(self, x, y, z, d):
        return along_two(torch.fft.ihfft2, x, y, z, d)


@case(inputs=REAL_IMAGES)
class torch_fft_ihfftn(nn.Module):
    def forward(self, x, y, z, d):
        return along_several(torch.fft.ihfftn, x, y, z, d)
