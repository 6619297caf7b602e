"""Padding that a convolution does by itself, and padding that it cannot do.

It pads both ends of a dim alike: with zeros, whatever it pads already, or in a mode of its own.
"""

import torch.nn as nn
import torch.nn.functional as F

from suites.case import case


@case(inputs=[(2, 12, 15)])
class pnnx_fuse_pad_conv1d(nn.Module):
    def __init__(self):
        super().__init__()
        self.pad_0 = nn.ConstantPad1d(2, 0.0)
        self.pad_1 = nn.ReflectionPad1d(1)
        self.pad_2 = nn.ReplicationPad1d((2, 2))
        self.pad_3 = nn.ZeroPad1d(1)
        self.conv_0 = nn.Conv1d(12, 12, 3)
        self.conv_1 = nn.Conv1d(12, 16, 2, stride=2, padding=1, bias=False)
        self.conv_2 = nn.Conv1d(16, 12, 3, dilation=2, groups=4)
        self.conv_3 = nn.Conv1d(12, 12, 3, padding=1, padding_mode="replicate")

    def forward(self, x):
        x = self.conv_1(F.pad(x, (2, 2)))
        x = self.conv_2(F.pad(x, [1, 1, 0, 0], mode="constant", value=0.0))
        x = self.conv_0(self.pad_0(x))
        x = F.relu(self.conv_0(self.pad_1(x)))
        x = F.relu(self.conv_0(self.pad_2(x)))
        x = self.conv_0(self.pad_3(x))
        x = self.conv_0(F.pad(x, (3, 3), mode="reflect"))
        x = self.conv_0(F.pad(x, (1, 1), "replicate"))
        padded = F.pad(x, (1, 1))
        return (
            self.conv_0(padded) + padded.mean(-1, keepdim=True),
            self.conv_0(F.pad(x, (1, 2))),
            self.conv_0(F.pad(x, (2, 2), value=0.5)),
            self.conv_0(F.pad(x, (-1, -1))),
            self.conv_0(F.pad(x, (1, 1, 0, 0, 1, 1))),
            self.conv_0(F.pad(x, (2, 2), mode="circular")),
            self.conv_0(F.relu(F.pad(x, (2, 2)))),
            self.conv_1(F.pad(x, (2, 2), mode="reflect")),
            self.conv_3(F.pad(x, (2, 2))),
            self.conv_3(F.pad(x, (1, 1), mode="replicate")),
        )


@case(inputs=[(2, 12, 15, 14)])
class pnnx_fuse_pad_conv2d(nn.Module):
    def __init__(self):
        super().__init__()
        self.pad_0 = nn.ConstantPad2d(2, 0.0)
        self.pad_1 = nn.ReflectionPad2d(1)
        self.pad_2 = nn.ReplicationPad2d((2, 2, 1, 1))
        self.pad_3 = nn.ZeroPad2d((1, 1, 0, 0))
        self.conv_0 = nn.Conv2d(12, 12, 3)
        self.conv_1 = nn.Conv2d(12, 16, (2, 4), stride=(2, 1), padding=(1, 0), bias=False)
        self.conv_2 = nn.Conv2d(16, 12, 3, dilation=(1, 2), groups=4)
        self.conv_3 = nn.Conv2d(12, 12, 3, padding=1, padding_mode="reflect")

    def forward(self, x):
        x = self.conv_1(F.pad(x, (2, 2, 1, 1)))
        x = self.conv_2(F.pad(x, [3, 3, 1, 1, 0, 0], mode="constant", value=0.0))
        x = self.conv_0(self.pad_0(x))
        x = F.relu(self.conv_0(self.pad_1(x)))
        x = F.relu(self.conv_0(self.pad_2(x)))
        x = self.conv_0(F.pad(self.pad_3(x), (0, 0, 2, 2), mode="reflect"))
        x = self.conv_0(F.pad(x, (1, 1)))
        x = self.conv_0(F.pad(x, (3, 3, 1, 1), mode="reflect"))
        x = self.conv_0(F.pad(x, (1, 1, 2, 2), "replicate"))
        padded = F.pad(x, (1, 1, 1, 1))
        return (
            self.conv_0(padded) + padded.mean((-2, -1), keepdim=True),
            self.conv_0(F.pad(x, (2, 2, 1, 1), value=0.5)),
            self.conv_0(F.pad(x, (-1, -1, 1, 1))),
            self.conv_0(F.pad(x, (1, 1, 1, 1, 0, 0, 1, 1))),
            self.conv_0(F.pad(x, (2, 2, 1, 1), mode="circular")),
            self.conv_0(F.relu(F.pad(x, (2, 2, 1, 1)))),
            self.conv_3(F.pad(x, (2, 2, 2, 2))),
            self.conv_3(F.pad(x, (1, 1, 1, 1), mode="reflect")),
        )


@case(inputs=[(1, 3, 16, 15), (1, 8, 7, 9)])
class pnnx_fuse_asymmetric_pad_conv2d(nn.Module):
    """More at one end than at the other, as "same" padding of a stride of 2 has it."""

    def __init__(self):
        super().__init__()
        self.pad_0 = nn.ZeroPad2d((0, 1, 0, 1))
        self.pad_1 = nn.ConstantPad2d((1, 2, 0, 0), 0.0)
        self.pad_2 = nn.ReflectionPad2d((2, 1, 1, 0))
        self.conv_0 = nn.Conv2d(3, 8, 3, stride=2)
        self.conv_1 = nn.Conv2d(8, 8, 3, stride=2, padding=1, bias=False)
        self.conv_2 = nn.Conv2d(8, 8, (2, 3), dilation=2, groups=8)
        self.conv_3 = nn.Conv2d(8, 8, 3, padding=(0, 1), padding_mode="replicate")
        self.deconv = nn.ConvTranspose2d(8, 4, 2)

    def forward(self, x, y):
        x = F.relu(self.conv_0(F.pad(x, (0, 1, 0, 1))))
        x = F.relu(self.conv_1(F.pad(x, (1, 0, 2, 1), mode="constant", value=0.0)))
        y = self.conv_2(self.pad_0(y))
        y = self.conv_2(self.pad_1(F.relu(self.pad_0(y))))
        y = self.conv_1(F.pad(F.relu(F.pad(y, (1, 1, 1, 1))), (0, 2, 2, 0, 0, 0)))
        return (
            x,
            self.conv_1(F.pad(y, (1, 2, 0, 0))),
            self.conv_2(self.pad_2(y)),
            self.conv_1(F.pad(y, (0, 1, 1, 0), mode="replicate")),
            self.conv_1(F.pad(y, (0, 1, 0, 1), value=-1.0)),
            self.conv_1(F.pad(y, (3, -1, 0, 2))),
            self.conv_1(F.pad(y, (0, 1, 0, 1, 2, -2))),
            self.conv_3(F.pad(y, (1, 0, 2, 1))),
            self.deconv(F.pad(y, (0, 1, 1, 0))),
        )
