"""Pooling modules.

What ncnn lacks takes part only with the input that the ncnn target leaves out: inputs without a
batch, places of maxima, dilations, divisors.
"""

import torch.nn as nn

from suites.case import case


@case(inputs=[(1, 128, 13), (12, 24)], targets=("pnnx", "ncnn"))
class nn_AdaptiveAvgPool1d(nn.Module):
    def __init__(self):
        super().__init__()
        self.pool_0 = nn.AdaptiveAvgPool1d(7)
        self.pool_1 = nn.AdaptiveAvgPool1d(output_size=4)
        self.pool_2 = nn.AdaptiveAvgPool1d(1)

    def forward(self, x, y=None):
        pooled = self.pool_0(x), self.pool_1(x)
        if y is None:
            return pooled
        return *pooled, self.pool_2(x), self.pool_0(y)


@case(inputs=[(1, 128, 13, 15), (12, 24, 32)], targets=("pnnx", "ncnn"))
class nn_AdaptiveAvgPool2d(nn.Module):
    def __init__(self):
        super().__init__()
        self.pool_0 = nn.AdaptiveAvgPool2d((7, 6))
        self.pool_1 = nn.AdaptiveAvgPool2d(output_size=1)
        self.pool_2 = nn.AdaptiveAvgPool2d((None, 3))
        self.pool_3 = nn.AdaptiveAvgPool2d((4, None))

    def forward(self, x, y):
        return self.pool_0(x), self.pool_1(x), self.pool_2(x), self.pool_3(x), self.pool_0(y)


@case(inputs=[(1, 24, 12, 13, 14), (6, 8, 9, 10)], targets=("pnnx", "ncnn"))
class nn_AdaptiveAvgPool3d(nn.Module):
    def __init__(self):
        super().__init__()
        self.pool_0 = nn.AdaptiveAvgPool3d((7, 6, 5))
        self.pool_1 = nn.AdaptiveAvgPool3d(output_size=1)
        self.pool_2 = nn.AdaptiveAvgPool3d((None, 4, 3))
        self.pool_3 = nn.AdaptiveAvgPool3d((5, None, None))

    def forward(self, x, y):
        return self.pool_0(x), self.pool_1(x), self.pool_2(x), self.pool_3(x), self.pool_0(y)


@case(inputs=[(1, 128, 13), (12, 24)], ncnn_inputs=[(1, 128, 13)])
class nn_AdaptiveMaxPool1d(nn.Module):
    def __init__(self):
        super().__init__()
        self.pool_0 = nn.AdaptiveMaxPool1d(7)
        self.pool_1 = nn.AdaptiveMaxPool1d(output_size=4)
        self.pool_2 = nn.AdaptiveMaxPool1d(1)
        self.telling = nn.AdaptiveMaxPool1d(5, return_indices=True)

    def forward(self, x, y=None):
        pooled = self.pool_0(x), self.pool_1(x)
        if y is None:
            return pooled
        values, places = self.telling(x)
        return *pooled, values, places, self.pool_2(x), self.pool_2(y)


@case(inputs=[(1, 128, 13, 15), (12, 24, 32)], ncnn_inputs=[(1, 128, 13, 15)])
class nn_AdaptiveMaxPool2d(nn.Module):
    def __init__(self):
        super().__init__()
        self.pool_0 = nn.AdaptiveMaxPool2d((7, 6))
        self.pool_1 = nn.AdaptiveMaxPool2d(output_size=1)
        self.pool_2 = nn.AdaptiveMaxPool2d((None, 3))
        self.telling = nn.AdaptiveMaxPool2d((4, 5), return_indices=True)

    def forward(self, x, y=None):
        pooled = self.pool_0(x), self.pool_1(x), self.pool_2(x)
        if y is None:
            return pooled
        values, places = self.telling(x)
        return *pooled, values, places, self.pool_1(y)


@case(inputs=[(1, 24, 12, 13, 14), (6, 8, 9, 10)], ncnn_inputs=[(1, 24, 12, 13, 14)])
class nn_AdaptiveMaxPool3d(nn.Module):
    def __init__(self):
        super().__init__()
        self.pool_0 = nn.AdaptiveMaxPool3d((7, 6, 5))
        self.pool_1 = nn.AdaptiveMaxPool3d(output_size=1)
        self.pool_2 = nn.AdaptiveMaxPool3d((None, 4, 3))
        self.telling = nn.AdaptiveMaxPool3d((3, 4, 5), return_indices=True)

    def forward(self, x, y=None):
        pooled = self.pool_0(x), self.pool_1(x), self.pool_2(x)
        if y is None:
            return pooled
        values, places = self.telling(x)
        return *pooled, values, places, self.pool_1(y)


class Each(nn.Module):
    """Every pool on a batch; with an input that has none, the first on it and what ncnn lacks."""

    def __init__(self, *pools, beyond=None, telling=None):
        super().__init__()
        self.pools = nn.ModuleList(pools)
        self.beyond = beyond
        self.telling = telling

    def forward(self, x, y=None):
        pooled = tuple(pool(x) for pool in self.pools)
        if y is None:
            return pooled
        if self.beyond is not None:
            pooled += (self.beyond(x),)
        if self.telling is not None:
            pooled += self.telling(x)
        return *pooled, self.pools[0](y)


@case(inputs=[(1, 12, 64), (12, 33)], ncnn_inputs=[(1, 12, 64)])
class nn_AvgPool1d(Each):
    def __init__(self):
        super().__init__(
            nn.AvgPool1d(3),
            nn.AvgPool1d(kernel_size=4, stride=2, padding=2),
            nn.AvgPool1d(3, stride=1, padding=1, ceil_mode=False, count_include_pad=True),
            nn.AvgPool1d(4, stride=3, ceil_mode=True, count_include_pad=False),
            beyond=nn.AvgPool1d(5, stride=2, padding=2, ceil_mode=True),
        )


@case(inputs=[(1, 12, 64, 33), (12, 33, 32)], ncnn_inputs=[(1, 12, 64, 33)])
class nn_AvgPool2d(Each):
    def __init__(self):
        super().__init__(
            nn.AvgPool2d(3),
            nn.AvgPool2d(kernel_size=4, stride=2, padding=2),
            nn.AvgPool2d((1, 3), stride=1, padding=(0, 1), count_include_pad=True),
            nn.AvgPool2d((4, 5), stride=(1, 2), ceil_mode=True, count_include_pad=False),
            nn.AvgPool2d((5, 3), stride=(2, 1), padding=1, count_include_pad=False),
            beyond=nn.AvgPool2d(2, stride=1, padding=1, ceil_mode=True, divisor_override=18),
        )


@case(inputs=[(1, 12, 17, 24, 32), (12, 16, 17, 18)], ncnn_inputs=[(1, 12, 17, 24, 32)])
class nn_AvgPool3d(Each):
    def __init__(self):
        super().__init__(
            nn.AvgPool3d(3),
            nn.AvgPool3d(kernel_size=4, stride=2, padding=2),
            nn.AvgPool3d((1, 2, 3), stride=1, padding=(0, 0, 1), count_include_pad=True),
            nn.AvgPool3d((3, 4, 5), stride=(1, 2, 2), ceil_mode=True, count_include_pad=False),
            nn.AvgPool3d((5, 4, 3), stride=(2, 1, 1), padding=1, count_include_pad=False),
            beyond=nn.AvgPool3d(2, stride=1, padding=1, ceil_mode=True, divisor_override=77),
        )


@case(inputs=[(1, 12, 64), (12, 33)], ncnn_inputs=[(1, 12, 64)])
class nn_MaxPool1d(Each):
    def __init__(self):
        super().__init__(
            nn.MaxPool1d(3),
            nn.MaxPool1d(kernel_size=4, stride=2, padding=2, dilation=1),
            nn.MaxPool1d(5, stride=2, padding=2, ceil_mode=True),
            nn.MaxPool1d(2, stride=3, ceil_mode=True),
            beyond=nn.MaxPool1d(3, stride=1, padding=1, dilation=3),
            telling=nn.MaxPool1d(4, stride=2, padding=1, return_indices=True),
        )


@case(inputs=[(1, 12, 64, 33), (12, 33, 32)], ncnn_inputs=[(1, 12, 64, 33)])
class nn_MaxPool2d(Each):
    def __init__(self):
        super().__init__(
            nn.MaxPool2d(3),
            nn.MaxPool2d(kernel_size=4, stride=2, padding=2, dilation=1),
            nn.MaxPool2d((1, 3), stride=1, padding=(0, 1)),
            nn.MaxPool2d((4, 5), stride=(1, 2), padding=(1, 2), ceil_mode=True),
            beyond=nn.MaxPool2d((2, 3), stride=(3, 1), padding=(0, 1), dilation=(3, 2)),
            telling=nn.MaxPool2d((5, 4), stride=2, padding=1, return_indices=True),
        )


@case(inputs=[(1, 12, 17, 24, 32), (12, 16, 17, 18)], ncnn_inputs=[(1, 12, 17, 24, 32)])
class nn_MaxPool3d(Each):
    def __init__(self):
        super().__init__(
            nn.MaxPool3d(3),
            nn.MaxPool3d(kernel_size=4, stride=2, padding=2, dilation=1),
            nn.MaxPool3d((1, 2, 3), stride=1, padding=(0, 0, 1)),
            nn.MaxPool3d((3, 4, 5), stride=(1, 2, 2), padding=(1, 2, 2), ceil_mode=True),
            beyond=nn.MaxPool3d((2, 3, 3), stride=(3, 1, 1), padding=1, dilation=(3, 1, 2)),
            telling=nn.MaxPool3d((3, 5, 4), stride=2, padding=1, return_indices=True),
        )


@case(inputs=[(1, 12, 64), (12, 33)])
class nn_LPPool1d(Each):
    def __init__(self):
        super().__init__(
            nn.LPPool1d(norm_type=2, kernel_size=3),
            nn.LPPool1d(2, 4, stride=2),
            nn.LPPool1d(1, 3, stride=1, ceil_mode=False),
            nn.LPPool1d(1, 5, stride=2, ceil_mode=True),
            nn.LPPool1d(1.2, 3, stride=2),
            nn.LPPool1d(3, 4, stride=2, ceil_mode=True),
        )


@case(inputs=[(1, 12, 64, 33), (12, 33, 32)])
class nn_LPPool2d(Each):
    def __init__(self):
        super().__init__(
            nn.LPPool2d(norm_type=2, kernel_size=3),
            nn.LPPool2d(2, 4, stride=2),
            nn.LPPool2d(1, (1, 3), stride=1, ceil_mode=False),
            nn.LPPool2d(1, (4, 5), stride=(1, 2), ceil_mode=True),
            nn.LPPool2d(1.2, (5, 3), stride=(2, 1)),
            nn.LPPool2d(3, 2, stride=1, ceil_mode=True),
        )
