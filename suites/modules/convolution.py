"""Convolution modules, and a weight norm over one.

The ncnn target leaves out inputs without a batch and, with them, circular padding.
"""

import torch.nn as nn
from torch.nn.utils.parametrizations import weight_norm

from suites.case import case


@case(inputs=[(1, 12, 64), (12, 30)], ncnn_inputs=[(1, 12, 64)])
class nn_Conv1d(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv_0 = nn.Conv1d(12, 16, kernel_size=3)
        self.conv_1 = nn.Conv1d(16, 20, 2, stride=2, padding=2, dilation=1)
        self.conv_2 = nn.Conv1d(20, 24, kernel_size=3, groups=4, bias=True)
        self.conv_3 = nn.Conv1d(24, 28, kernel_size=5, padding="valid", bias=False)
        self.conv_4 = nn.Conv1d(28, 32, 4, padding="same", dilation=2)
        self.conv_5 = nn.Conv1d(32, 32, 2, padding=3, groups=32, padding_mode="zeros")
        self.conv_6 = nn.Conv1d(32, 28, 2, padding=2, padding_mode="reflect", bias=False)
        self.conv_7 = nn.Conv1d(28, 24, 3, padding=1, padding_mode="replicate")
        self.conv_8 = nn.Conv1d(24, 8, 3, padding=2, padding_mode="circular")

    def forward(self, x, y=None):
        x = self.conv_3(self.conv_2(self.conv_1(self.conv_0(x))))
        x = self.conv_7(self.conv_6(self.conv_5(self.conv_4(x))))
        if y is None:
            return x
        return self.conv_8(x), self.conv_0(y)


@case(inputs=[(1, 12, 64, 48), (12, 20, 30)], ncnn_inputs=[(1, 12, 64, 48)])
class nn_Conv2d(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv_0 = nn.Conv2d(12, 16, kernel_size=3)
        self.conv_1 = nn.Conv2d(16, 20, (2, 4), stride=(2, 1), padding=2, dilation=1)
        self.conv_2 = nn.Conv2d(20, 24, kernel_size=(1, 3), groups=4, bias=True)
        self.conv_3 = nn.Conv2d(24, 28, (5, 4), padding="valid", bias=False)
        self.conv_4 = nn.Conv2d(28, 32, 3, padding="same", dilation=(1, 2))
        self.conv_5 = nn.Conv2d(32, 32, 2, padding=3, groups=32, padding_mode="zeros")
        self.conv_6 = nn.Conv2d(32, 28, 2, padding=(2, 1), padding_mode="reflect", bias=False)
        self.conv_7 = nn.Conv2d(28, 24, 3, padding=(0, 1), padding_mode="replicate")
        self.conv_8 = nn.Conv2d(24, 8, 3, padding=(2, 3), padding_mode="circular")

    def forward(self, x, y=None):
        x = self.conv_3(self.conv_2(self.conv_1(self.conv_0(x))))
        x = self.conv_7(self.conv_6(self.conv_5(self.conv_4(x))))
        if y is None:
            return x
        return self.conv_8(x), self.conv_0(y)


@case(inputs=[(1, 12, 10, 16, 20), (12, 6, 7, 8)], ncnn_inputs=[(1, 12, 10, 16, 20)])
class nn_Conv3d(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv_0 = nn.Conv3d(12, 16, kernel_size=3)
        self.conv_1 = nn.Conv3d(16, 20, (2, 3, 4), stride=(2, 1, 1), padding=2, dilation=1)
        self.conv_2 = nn.Conv3d(20, 24, kernel_size=(1, 2, 3), groups=4, bias=True)
        self.conv_3 = nn.Conv3d(24, 28, (3, 4, 5), padding="valid", bias=False)
        self.conv_4 = nn.Conv3d(28, 32, 3, padding="same", dilation=(1, 2, 1))
        self.conv_5 = nn.Conv3d(32, 32, 2, padding=3, groups=32, padding_mode="zeros")
        self.conv_6 = nn.Conv3d(32, 16, 2, padding=(0, 1, 2))

    def forward(self, x, y=None):
        x = self.conv_3(self.conv_2(self.conv_1(self.conv_0(x))))
        x = self.conv_6(self.conv_5(self.conv_4(x)))
        return x if y is None else (x, self.conv_0(y))


@case(inputs=[(1, 12, 10)], targets=("pnnx", "ncnn"))
class nn_ConvTranspose1d(nn.Module):
    def __init__(self):
        super().__init__()
        self.deconv_0 = nn.ConvTranspose1d(12, 16, kernel_size=3)
        self.deconv_1 = nn.ConvTranspose1d(16, 20, 2, stride=2, padding=2, output_padding=0)
        self.deconv_2 = nn.ConvTranspose1d(20, 24, 3, stride=2, padding=2, output_padding=1)
        self.deconv_3 = nn.ConvTranspose1d(24, 28, kernel_size=5, bias=False)
        self.deconv_4 = nn.ConvTranspose1d(28, 32, 3, groups=4, bias=True, dilation=2)

    def forward(self, x):
        x = self.deconv_2(self.deconv_1(self.deconv_0(x)))
        return self.deconv_4(self.deconv_3(x))


@case(inputs=[(1, 12, 10, 8)], targets=("pnnx", "ncnn"))
class nn_ConvTranspose2d(nn.Module):
    def __init__(self):
        super().__init__()
        self.deconv_0 = nn.ConvTranspose2d(12, 16, kernel_size=3)
        self.deconv_1 = nn.ConvTranspose2d(16, 20, (2, 4), stride=(2, 1), padding=2)
        self.deconv_2 = nn.ConvTranspose2d(20, 24, 3, (1, 2), (2, 1), output_padding=(0, 1))
        self.deconv_3 = nn.ConvTranspose2d(24, 28, (5, 4), bias=False)
        self.deconv_4 = nn.ConvTranspose2d(28, 32, 3, groups=4, bias=True, dilation=(2, 1))
        self.deconv_5 = nn.ConvTranspose2d(32, 32, 3, stride=2, padding=1, groups=32)

    def forward(self, x):
        x = self.deconv_2(self.deconv_1(self.deconv_0(x)))
        return self.deconv_5(self.deconv_4(self.deconv_3(x)))


@case(inputs=[(1, 12, 4, 5, 6)], targets=("pnnx", "ncnn"))
class nn_ConvTranspose3d(nn.Module):
    def __init__(self):
        super().__init__()
        self.deconv_0 = nn.ConvTranspose3d(12, 16, kernel_size=3)
        self.deconv_1 = nn.ConvTranspose3d(16, 20, (2, 3, 4), stride=(2, 2, 1), padding=2)
        self.deconv_2 = nn.ConvTranspose3d(
            20, 24, 3, (1, 2, 2), (2, 2, 1), output_padding=(0, 1, 1)
        )
        self.deconv_3 = nn.ConvTranspose3d(24, 28, (2, 3, 4), bias=False)
        self.deconv_4 = nn.ConvTranspose3d(28, 16, 2, groups=4, bias=True, dilation=(1, 2, 1))

    def forward(self, x):
        x = self.deconv_2(self.deconv_1(self.deconv_0(x)))
        return self.deconv_4(self.deconv_3(x))


@case(
    inputs=[(1, 12, 20), (1, 12, 20, 16), (1, 4, 6, 7, 8)],
    proves=("torch.nn.utils.parametrizations.weight_norm",),
)
class nn_parametrizations_weight_norm_conv(nn.Module):
    """The norm is taken over all but dim 0, or over another dim, or over everything."""

    def __init__(self):
        super().__init__()
        self.conv_0 = weight_norm(nn.Conv1d(12, 16, 3))
        self.conv_1 = weight_norm(nn.Conv2d(12, 16, 3, padding=1, bias=False))
        self.conv_2 = weight_norm(nn.Conv2d(16, 8, (1, 3), stride=2), dim=1)
        self.conv_3 = weight_norm(nn.Conv3d(4, 6, 3))
        self.deconv = weight_norm(nn.ConvTranspose2d(8, 4, 3, stride=2), dim=None)

    def forward(self, x, y, z):
        return self.conv_0(x), self.deconv(self.conv_2(self.conv_1(y))), self.conv_3(z)
