"""Convolutions of torch.nn.functional: stored weights, and weights that are inputs.

The ncnn target leaves out inputs without a batch, and weights of five dims that are inputs.
"""

import torch
import torch.nn as nn
import torch.nn.functional as F

from suites.case import case


def weights(*shape):
    return nn.Parameter(torch.rand(shape))


@case(
    inputs=[(1, 12, 52), (1, 6, 25), (16, 6, 3), (16,), (12, 30)],
    targets=("pnnx", "ncnn"),
)
class F_conv1d(nn.Module):
    def __init__(self):
        super().__init__()
        self.w0, self.b0 = weights(16, 12, 3), weights(16)
        self.w1, self.b1 = weights(16, 16, 5), weights(16)
        self.w2 = weights(16, 4, 3)
        self.w3, self.b3 = weights(12, 12, 4), weights(12)

    def forward(self, x, y, w, b, z=None):
        x = F.conv1d(x, self.w0, self.b0, stride=2, padding=1)
        x = F.conv1d(x, self.w1, self.b1, stride=1, padding=2, dilation=2)
        x = F.conv1d(x, self.w2, None, padding="same", groups=4)
        y = F.conv1d(y, w, b, stride=2, padding=1)
        if z is None:
            return x, y
        return x, y, F.conv1d(z, self.w3, self.b3, padding="valid")


@case(
    inputs=[(1, 12, 52, 64), (1, 6, 24, 35), (16, 6, 3, 3), (16,), (12, 20, 30)],
    targets=("pnnx", "ncnn"),
)
class F_conv2d(nn.Module):
    def __init__(self):
        super().__init__()
        self.w0, self.b0 = weights(16, 12, 3, 3), weights(16)
        self.w1, self.b1 = weights(16, 16, 5, 4), weights(16)
        self.w2 = weights(16, 4, 3, 3)
        self.w3, self.b3 = weights(16, 1, 3, 3), weights(16)
        self.w4, self.b4 = weights(12, 12, 2, 4), weights(12)

    def forward(self, x, y, w, b, z=None):
        x = F.conv2d(x, self.w0, self.b0, stride=(2, 1), padding=(1, 2))
        x = F.conv2d(x, self.w1, self.b1, padding=2, dilation=(2, 1))
        x = F.conv2d(x, self.w2, None, padding="same", groups=4)
        x = F.conv2d(x, self.w3, self.b3, padding=1, groups=16)
        y = F.conv2d(y, w, b, stride=2, padding=1)
        if z is None:
            return x, y
        return x, y, F.conv2d(z, self.w4, self.b4, padding="valid")


@case(
    inputs=[(1, 12, 12, 20, 24), (1, 6, 8, 12, 10), (16, 6, 3, 3, 3), (16,), (6, 7, 8, 9)],
    ncnn_inputs=[(1, 12, 12, 20, 24)],
)
class F_conv3d(nn.Module):
    def __init__(self):
        super().__init__()
        self.w0, self.b0 = weights(16, 12, 3, 3, 3), weights(16)
        self.w1, self.b1 = weights(16, 16, 2, 5, 4), weights(16)
        self.w2 = weights(16, 4, 3, 3, 3)
        self.w3, self.b3 = weights(8, 6, 2, 3, 4), weights(8)

    def forward(self, x, y=None, w=None, b=None, z=None):
        x = F.conv3d(x, self.w0, self.b0, stride=(2, 2, 1), padding=(1, 2, 1))
        x = F.conv3d(x, self.w1, self.b1, padding=(1, 2, 3), dilation=(1, 2, 1))
        x = F.conv3d(x, self.w2, None, padding="same", groups=4)
        if y is None:
            return x
        y = F.conv3d(y, w, b, stride=2, padding=1)
        return x, y, F.conv3d(z, self.w3, self.b3, padding="valid")


@case(inputs=[(1, 12, 22), (1, 6, 5), (6, 12, 3), (12,)], targets=("pnnx", "ncnn"))
class F_conv_transpose1d(nn.Module):
    def __init__(self):
        super().__init__()
        self.w0, self.b0 = weights(12, 16, 3), weights(16)
        self.w1, self.b1 = weights(16, 16, 5), weights(16)
        self.w2 = weights(16, 4, 4)

    def forward(self, x, y, w, b):
        x = F.conv_transpose1d(x, self.w0, self.b0, stride=2, padding=1, output_padding=1)
        x = F.conv_transpose1d(x, self.w1, self.b1, padding=2, dilation=2)
        x = F.conv_transpose1d(x, self.w2, None, groups=4)
        return x, F.conv_transpose1d(y, w, b, stride=2, padding=1, output_padding=1)


@case(inputs=[(1, 12, 12, 22), (1, 6, 5, 7), (6, 12, 3, 3), (12,)], targets=("pnnx", "ncnn"))
class F_conv_transpose2d(nn.Module):
    def __init__(self):
        super().__init__()
        self.w0, self.b0 = weights(12, 16, 3, 3), weights(16)
        self.w1, self.b1 = weights(16, 16, 5, 4), weights(16)
        self.w2 = weights(16, 4, 2, 4)
        self.w3, self.b3 = weights(16, 1, 3, 3), weights(16)

    def forward(self, x, y, w, b):
        x = F.conv_transpose2d(
            x, self.w0, self.b0, stride=(2, 3), padding=(1, 0), output_padding=(1, 2)
        )
        x = F.conv_transpose2d(x, self.w1, self.b1, padding=(2, 1), dilation=(2, 1))
        x = F.conv_transpose2d(x, self.w2, None, groups=4)
        x = F.conv_transpose2d(x, self.w3, self.b3, padding=1, groups=16)
        return x, F.conv_transpose2d(y, w, b, stride=2, padding=1, output_padding=1)


@case(
    inputs=[(1, 12, 5, 6, 7), (1, 6, 4, 5, 6), (6, 12, 3, 3, 3), (12,)],
    ncnn_inputs=[(1, 12, 5, 6, 7)],
)
class F_conv_transpose3d(nn.Module):
    def __init__(self):
        super().__init__()
        self.w0, self.b0 = weights(12, 16, 3, 3, 3), weights(16)
        self.w1, self.b1 = weights(16, 16, 2, 3, 4), weights(16)
        self.w2 = weights(16, 4, 2, 3, 2)

    def forward(self, x, y=None, w=None, b=None):
        x = F.conv_transpose3d(
            x, self.w0, self.b0, stride=(2, 1, 2), padding=(1, 0, 1), output_padding=(1, 0, 1)
        )
        x = F.conv_transpose3d(x, self.w1, self.b1, padding=(0, 1, 1), dilation=(1, 2, 1))
        x = F.conv_transpose3d(x, self.w2, None, groups=4)
        if y is None:
            return x
        return x, F.conv_transpose3d(y, w, b, stride=2, padding=1, output_padding=1)
