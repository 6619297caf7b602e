"""What torch.nn.functional does with shapes: padding, folding, shuffling of pixels.

The ncnn target leaves out inputs without a batch and what its layers lack, which comes last.
"""

import torch.nn as nn
import torch.nn.functional as F

from suites.case import case


@case(
    inputs=[(1, 12, 13), (1, 12, 13, 14), (1, 4, 6, 7, 8), (3, 5)],
    ncnn_inputs=[(1, 12, 13), (1, 12, 13, 14)],
)
class F_pad(nn.Module):
    def forward(self, x, y, z=None, w=None):
        padded = (
            F.pad(x, (3, 4), mode="constant", value=1.3),
            F.pad(x, pad=(2, 2)),
            F.pad(x, (3, 2), mode="reflect"),
            F.pad(x, (3, 5), mode="replicate"),
            F.pad(y, (3, 4)),
            F.pad(y, (1, 0, 2, 3), value=-2),
            F.pad(y, (1, 2, 0, 3, 1, 0), "constant", 0.5),
            F.pad(y, (1, 2, 3, 4), mode="reflect"),
            F.pad(y, (3, 0, 1, 4), mode="replicate"),
        )
        if z is None:
            return padded
        return (
            *padded,
            F.pad(x, (3, 2), mode="circular"),
            F.pad(y, (-1, 2, -3, -2)),
            F.pad(y, (2, 3, 1, 0), mode="circular"),
            F.pad(z, (1, 2, 0, 3, 4, 0), value=0.25),
            F.pad(z, (1, 2, 3, 0, 2, 1), mode="reflect"),
            F.pad(z, (1, 2, 0, 3, 4, 5), mode="replicate"),
            F.pad(w, (1, 2, 3, 4), value=7),
        )


@case(inputs=[(1, 108, 680), (1, 128, 210), (36, 100)], ncnn_inputs=[(1, 108, 680), (1, 128, 210)])
class F_fold(nn.Module):
    def forward(self, x, y, z=None):
        folded = (
            F.fold(x, output_size=(22, 36), kernel_size=3),
            F.fold(y, (17, 18), kernel_size=(2, 4), stride=(2, 1), padding=(2, 3), dilation=1),
        )
        if z is None:
            return folded
        return (
            *folded,
            F.fold(z, (22, 30), (3, 3), dilation=2, padding=1, stride=(2, 3)),
        )


@case(inputs=[(1, 12, 64, 64), (3, 20, 24)], ncnn_inputs=[(1, 12, 64, 64)])
class F_unfold(nn.Module):
    def forward(self, x, y=None):
        unfolded = (
            F.unfold(x, kernel_size=3),
            F.unfold(x, kernel_size=(2, 4), stride=(2, 1), padding=2, dilation=1),
            F.unfold(x, (1, 3), dilation=(1, 2), padding=(0, 1), stride=1),
        )
        if y is None:
            return unfolded
        return *unfolded, F.unfold(y, kernel_size=(5, 4), stride=3, padding=(2, 0))


@case(
    inputs=[(1, 16, 3, 4), (1, 108, 5, 7), (36, 4, 3)], ncnn_inputs=[(1, 16, 3, 4), (1, 108, 5, 7)]
)
class F_pixel_shuffle(nn.Module):
    def forward(self, x, y, z=None):
        x, y = F.pixel_shuffle(x, 4), F.pixel_shuffle(y, upscale_factor=3)
        return (x, y) if z is None else (x, y, F.pixel_shuffle(z, 2))


@case(
    inputs=[(1, 3, 128, 128), (1, 4, 48, 36), (2, 6, 9)],
    ncnn_inputs=[(1, 3, 128, 128), (1, 4, 48, 36)],
)
class F_pixel_unshuffle(nn.Module):
    def forward(self, x, y, z=None):
        x, y = F.pixel_unshuffle(x, 4), F.pixel_unshuffle(y, downscale_factor=3)
        return (x, y) if z is None else (x, y, F.pixel_unshuffle(z, 3))
