"""Batch-norms that go into the layer before them, and those that may not.

Where the result before the batch-norm is read elsewhere too, or where other channels are normalized
than the layer makes, both stay.
"""

import torch.nn as nn
import torch.nn.functional as F

from suites.case import case
from suites.modules.normalization import trained


class Chain(nn.Module):
    """Layers of all kinds of arguments, each followed by a batch-norm; then what may not be fused.

    `layers` and `last` make layers of the channels that they are given, and of further arguments.
    """

    def __init__(self, layer, norm, *, transposed=False):
        super().__init__()
        more = {"output_padding": 1} if transposed else {"padding_mode": "reflect"}
        self.layer_0 = layer(12, 16, 3)
        self.norm_0 = trained(norm(16))
        self.layer_1 = layer(16, 20, 2, stride=2, padding=1, bias=False)
        self.norm_1 = trained(norm(20, eps=1e-2))
        self.layer_2 = layer(20, 24, 3, padding=1, dilation=1, groups=4)
        self.norm_2 = norm(24, affine=False)
        self.norm_2.running_mean.data.uniform_()
        self.layer_3 = layer(24, 24, 3, stride=2, padding=1, groups=24, bias=False, **more)
        self.norm_3 = trained(norm(24, momentum=None))
        self.layer_4 = layer(24, 8, 1)
        self.norm_4 = trained(norm(8))
        self.norm_5 = trained(norm(8))
        self.layer_6 = layer(8, 8, 1, bias=False)
        self.norm_6 = trained(norm(8))

    def forward(self, x):
        x = F.relu(self.norm_0(self.layer_0(x)))
        x = self.norm_1(self.layer_1(x))
        x = self.norm_2(self.layer_2(x))
        x = F.silu(self.norm_3(self.layer_3(x)))
        x = self.norm_5(F.relu(self.norm_4(self.layer_4(x))))
        y = self.layer_6(x)
        z = self.norm_6(F.relu(self.layer_6(x + 1)))
        return y, self.norm_6(y), z


@case(inputs=[(2, 12, 17)])
class pnnx_fuse_conv1d_batchnorm1d(Chain):
    def __init__(self):
        super().__init__(nn.Conv1d, nn.BatchNorm1d)


@case(inputs=[(2, 12, 17, 14)])
class pnnx_fuse_conv2d_batchnorm2d(Chain):
    def __init__(self):
        super().__init__(nn.Conv2d, nn.BatchNorm2d)


@case(inputs=[(1, 12, 9, 10, 11)])
class pnnx_fuse_conv3d_batchnorm3d(Chain):
    def __init__(self):
        super().__init__(nn.Conv3d, nn.BatchNorm3d)


@case(inputs=[(2, 12, 7)])
class pnnx_fuse_convtranspose1d_batchnorm1d(Chain):
    def __init__(self):
        super().__init__(nn.ConvTranspose1d, nn.BatchNorm1d, transposed=True)


@case(inputs=[(1, 12, 5, 6)])
class pnnx_fuse_convtranspose2d_batchnorm2d(Chain):
    def __init__(self):
        super().__init__(nn.ConvTranspose2d, nn.BatchNorm2d, transposed=True)


@case(inputs=[(1, 12, 3, 4, 3)])
class pnnx_fuse_convtranspose3d_batchnorm3d(Chain):
    def __init__(self):
        super().__init__(nn.ConvTranspose3d, nn.BatchNorm3d, transposed=True)


@case(inputs=[(3, 16), (2, 20, 12)])
class pnnx_fuse_linear_batchnorm1d(nn.Module):
    """Of rows; channels of a sequence are its second dim, which no linear layer makes."""

    def __init__(self):
        super().__init__()
        self.linear_0 = nn.Linear(16, 24)
        self.norm_0 = trained(nn.BatchNorm1d(24))
        self.linear_1 = nn.Linear(24, 32, bias=False)
        self.norm_1 = trained(nn.BatchNorm1d(32, eps=1e-2))
        self.linear_2 = nn.Linear(32, 8)
        self.norm_2 = nn.BatchNorm1d(8, affine=False)
        self.norm_2.running_var.data.uniform_(0.5, 2)
        self.norm_3 = trained(nn.BatchNorm1d(8))
        self.linear_4 = nn.Linear(12, 20, bias=False)
        self.norm_4 = trained(nn.BatchNorm1d(20))

    def forward(self, x, y):
        x = F.relu(self.norm_0(self.linear_0(x)))
        x = self.norm_1(self.linear_1(x))
        x = F.silu(self.norm_2(self.linear_2(x)))
        y = self.linear_4(y)
        return self.norm_3(x), y, self.norm_4(y.transpose(1, 2)), self.norm_4(y[0])
