"""Normalization modules, with affine parts and statistics as training leaves them.

What ncnn lacks takes part only with the input that the ncnn target leaves out.
"""

import torch
import torch.nn as nn

from suites.case import case


def trained(norm):
    """Give a fresh module, which has ones and zeros, weights and statistics of its own."""
    for tensor in (*norm.parameters(), *norm.buffers()):
        if tensor.is_floating_point():
            tensor.data = torch.rand_like(tensor) + 0.1
    return norm


@case(inputs=[(1, 32), (1, 32, 24)], targets=("pnnx", "ncnn"))
class nn_BatchNorm1d(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm_0 = trained(nn.BatchNorm1d(num_features=32))
        self.norm_1 = trained(nn.BatchNorm1d(32, eps=1e-1, affine=False))
        self.norm_2 = trained(nn.BatchNorm1d(32, eps=1e-3, momentum=0.3))

    def forward(self, x, y):
        x, y = self.norm_0(x), self.norm_0(y)
        x, y = self.norm_1(x), self.norm_1(y)
        return self.norm_2(x), self.norm_2(y)


@case(inputs=[(1, 32, 12, 24)], targets=("pnnx", "ncnn"))
class nn_BatchNorm2d(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm_0 = trained(nn.BatchNorm2d(num_features=32))
        self.norm_1 = trained(nn.BatchNorm2d(32, eps=1e-1, affine=False))
        self.norm_2 = trained(nn.BatchNorm2d(32, eps=1e-3, momentum=0.3))

    def forward(self, x):
        return self.norm_2(self.norm_1(self.norm_0(x)))


@case(inputs=[(1, 32, 6, 7, 8)], targets=("pnnx", "ncnn"))
class nn_BatchNorm3d(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm_0 = trained(nn.BatchNorm3d(num_features=32))
        self.norm_1 = trained(nn.BatchNorm3d(32, eps=1e-1, affine=False))
        self.norm_2 = trained(nn.BatchNorm3d(32, eps=1e-3, momentum=0.3))

    def forward(self, x):
        return self.norm_2(self.norm_1(self.norm_0(x)))


@case(inputs=[(1, 64), (12, 64, 16), (1, 64, 12, 16), (1, 64, 3, 4, 5)], targets=("pnnx", "ncnn"))
class nn_GroupNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm_0 = trained(nn.GroupNorm(num_groups=4, num_channels=64))
        self.norm_1 = trained(nn.GroupNorm(16, 64, eps=1e-2))
        self.norm_2 = trained(nn.GroupNorm(1, 64, eps=1e-4))
        self.norm_3 = trained(nn.GroupNorm(64, 64))

    def forward(self, x, y, z, w):
        x, y = self.norm_1(self.norm_0(x)), self.norm_2(self.norm_1(self.norm_0(y)))
        z = self.norm_3(self.norm_2(self.norm_1(self.norm_0(z))))
        return x, y, z, self.norm_0(w)


@case(inputs=[(1, 12, 24), (12, 24)])
class nn_InstanceNorm1d(nn.Module):
    """Statistics of the input, and running ones; with a batch and without."""

    def __init__(self):
        super().__init__()
        self.norm_0 = nn.InstanceNorm1d(num_features=12, eps=1e-2)
        self.norm_1 = trained(nn.InstanceNorm1d(12, eps=1e-4, affine=True))
        self.norm_2 = trained(nn.InstanceNorm1d(12, affine=True, track_running_stats=True))
        self.norm_3 = trained(nn.InstanceNorm1d(12, eps=1e-1, track_running_stats=True))

    def forward(self, x, y):
        x = self.norm_3(self.norm_2(self.norm_1(self.norm_0(x))))
        return x, self.norm_1(self.norm_0(y))


@case(inputs=[(1, 12, 24, 32), (12, 8, 9)], ncnn_inputs=[(1, 12, 24, 32)])
class nn_InstanceNorm2d(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm_0 = nn.InstanceNorm2d(num_features=12, eps=1e-2)
        self.norm_1 = trained(nn.InstanceNorm2d(12, eps=1e-4, affine=True))
        self.norm_2 = trained(nn.InstanceNorm2d(12, affine=True, track_running_stats=True))
        self.norm_3 = trained(nn.InstanceNorm2d(12, eps=1e-1, track_running_stats=True))

    def forward(self, x, y=None):
        x = self.norm_1(self.norm_0(x))
        if y is None:
            return x
        return self.norm_3(self.norm_2(x)), self.norm_3(self.norm_2(self.norm_1(self.norm_0(y))))


@case(inputs=[(1, 12, 4, 5, 6), (12, 3, 4, 5)], ncnn_inputs=[(1, 12, 4, 5, 6)])
class nn_InstanceNorm3d(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm_0 = nn.InstanceNorm3d(num_features=12, eps=1e-2)
        self.norm_1 = trained(nn.InstanceNorm3d(12, eps=1e-4, affine=True))
        self.norm_2 = trained(nn.InstanceNorm3d(12, affine=True, track_running_stats=True))
        self.norm_3 = trained(nn.InstanceNorm3d(12, eps=1e-1, track_running_stats=True))

    def forward(self, x, y=None):
        x = self.norm_1(self.norm_0(x))
        if y is None:
            return x
        return self.norm_3(self.norm_2(x)), self.norm_3(self.norm_2(self.norm_1(self.norm_0(y))))


@case(
    inputs=[(1, 64), (1, 24, 64), (1, 12, 24, 64), (1, 12, 24, 64)],
    ncnn_inputs=[(1, 64), (1, 24, 64), (1, 12, 24, 64)],
)
class nn_LayerNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm_0 = trained(nn.LayerNorm(64))
        self.norm_1 = nn.LayerNorm(normalized_shape=64, eps=1e-2, elementwise_affine=False)
        self.norm_2 = trained(nn.LayerNorm((24, 64), eps=1e-4))
        self.norm_3 = trained(nn.LayerNorm((12, 24, 64), eps=1e-3))

    def forward(self, x, y, z, w=None):
        x, y, z = self.norm_1(self.norm_0(x)), self.norm_1(self.norm_0(y)), self.norm_2(z)
        if w is None:
            return x, y, z
        return x, y, z, self.norm_2(y), self.norm_3(self.norm_2(self.norm_0(w)))


@case(
    inputs=[(1, 64), (1, 24, 64), (1, 12, 24, 64), (24, 64)],
    ncnn_inputs=[(1, 64), (1, 24, 64), (1, 12, 24, 64)],
)
class nn_RMSNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm_0 = trained(nn.RMSNorm(64))
        self.norm_1 = nn.RMSNorm(normalized_shape=64, eps=1e-2, elementwise_affine=False)
        self.norm_2 = trained(nn.RMSNorm((24, 64), eps=1e-4))

    def forward(self, x, y, z, w=None):
        x, y, z = self.norm_1(self.norm_0(x)), self.norm_1(self.norm_0(y)), self.norm_2(z)
        if w is None:
            return x, y, z
        return x, y, z, self.norm_2(y), self.norm_2(w)


@case(inputs=[(1, 12, 24), (1, 12, 24, 32), (1, 8, 5, 6, 7)], targets=("pnnx", "ncnn"))
class nn_LocalResponseNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm_0 = nn.LocalResponseNorm(3)
        self.norm_1 = nn.LocalResponseNorm(size=5, alpha=0.001, beta=0.8, k=0.9)
        self.norm_2 = nn.LocalResponseNorm(4, alpha=0.01)

    def forward(self, x, y, z):
        return self.norm_1(self.norm_0(x)), self.norm_2(self.norm_1(y)), self.norm_0(z)
