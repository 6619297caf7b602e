"""Pooling of torch.nn.functional.

What ncnn lacks comes last, with an input that the ncnn target leaves out: inputs without a batch,
places of maxima, dilations, divisors, a single place of a line, a ceiling over padding.
"""

import torch.nn as nn
import torch.nn.functional as F

from suites.case import case


@case(inputs=[(1, 12, 24), (12, 24)], ncnn_inputs=[(1, 12, 24)])
class F_adaptive_avg_pool1d(nn.Module):
    def forward(self, x, y=None):
        pooled = F.adaptive_avg_pool1d(x, output_size=7), F.adaptive_avg_pool1d(x, 5)
        if y is None:
            return pooled
        return *pooled, F.adaptive_avg_pool1d(x, 1), F.adaptive_avg_pool1d(y, 6)


@case(inputs=[(1, 12, 24, 64), (12, 24, 64)], targets=("pnnx", "ncnn"))
class F_adaptive_avg_pool2d(nn.Module):
    def forward(self, x, y):
        return (
            F.adaptive_avg_pool2d(x, output_size=(7, 6)),
            F.adaptive_avg_pool2d(x, output_size=1),
            F.adaptive_avg_pool2d(x, output_size=(None, 3)),
            F.adaptive_avg_pool2d(x, output_size=(5, None)),
            F.adaptive_avg_pool2d(y, 4),
        )


@case(inputs=[(1, 12, 24, 33, 64), (12, 24, 33, 64)], targets=("pnnx", "ncnn"))
class F_adaptive_avg_pool3d(nn.Module):
    def forward(self, x, y):
        return (
            F.adaptive_avg_pool3d(x, output_size=(7, 6, 5)),
            F.adaptive_avg_pool3d(x, output_size=1),
            F.adaptive_avg_pool3d(x, output_size=(None, 4, 3)),
            F.adaptive_avg_pool3d(x, output_size=(5, None, None)),
            F.adaptive_avg_pool3d(y, 2),
        )


@case(inputs=[(1, 12, 24), (12, 24)], ncnn_inputs=[(1, 12, 24)])
class F_adaptive_max_pool1d(nn.Module):
    def forward(self, x, y=None):
        pooled = F.adaptive_max_pool1d(x, output_size=7), F.adaptive_max_pool1d(x, 4)
        if y is None:
            return pooled
        values, places = F.adaptive_max_pool1d(x, output_size=5, return_indices=True)
        return *pooled, F.adaptive_max_pool1d(x, 1), F.adaptive_max_pool1d(y, 6), values, places


@case(inputs=[(1, 12, 24, 64), (12, 24, 64)], ncnn_inputs=[(1, 12, 24, 64)])
class F_adaptive_max_pool2d(nn.Module):
    def forward(self, x, y=None):
        pooled = (
            F.adaptive_max_pool2d(x, output_size=(7, 6)),
            F.adaptive_max_pool2d(x, output_size=1),
            F.adaptive_max_pool2d(x, output_size=(None, 3)),
        )
        if y is None:
            return pooled
        values, places = F.adaptive_max_pool2d(x, output_size=(4, 5), return_indices=True)
        return *pooled, F.adaptive_max_pool2d(y, 4), values, places


@case(inputs=[(1, 12, 24, 33, 64), (12, 24, 33, 64)], ncnn_inputs=[(1, 12, 24, 33, 64)])
class F_adaptive_max_pool3d(nn.Module):
    def forward(self, x, y=None):
        pooled = (
            F.adaptive_max_pool3d(x, output_size=(7, 6, 5)),
            F.adaptive_max_pool3d(x, output_size=1),
            F.adaptive_max_pool3d(x, output_size=(None, 4, 3)),
        )
        if y is None:
            return pooled
        values, places = F.adaptive_max_pool3d(x, output_size=(3, 4, 5), return_indices=True)
        return *pooled, F.adaptive_max_pool3d(y, 2), values, places


@case(inputs=[(1, 12, 33), (12, 33)], targets=("pnnx", "ncnn"))
class F_avg_pool1d(nn.Module):
    def forward(self, x, y):
        return (
            F.avg_pool1d(x, kernel_size=3),
            F.avg_pool1d(x, kernel_size=4, stride=2, padding=2),
            F.avg_pool1d(x, 3, stride=1, padding=1, ceil_mode=False, count_include_pad=True),
            F.avg_pool1d(x, kernel_size=5, stride=2, padding=2, ceil_mode=True),
            F.avg_pool1d(x, 3, stride=2, padding=1, ceil_mode=False, count_include_pad=False),
            F.avg_pool1d(y, kernel_size=4, stride=3, ceil_mode=True, count_include_pad=False),
        )


@case(inputs=[(1, 12, 33, 64), (12, 33, 64)], ncnn_inputs=[(1, 12, 33, 64)])
class F_avg_pool2d(nn.Module):
    def forward(self, x, y=None):
        pooled = (
            F.avg_pool2d(x, kernel_size=3),
            F.avg_pool2d(x, kernel_size=4, stride=2, padding=2),
            F.avg_pool2d(x, (1, 3), stride=1, padding=(0, 1), count_include_pad=True),
            F.avg_pool2d(x, (4, 5), stride=(1, 2), ceil_mode=True, count_include_pad=False),
            F.avg_pool2d(x, (5, 3), stride=(2, 1), padding=1, count_include_pad=False),
        )
        if y is None:
            return pooled
        return (
            *pooled,
            F.avg_pool2d(x, (4, 5), stride=(1, 2), padding=(1, 2), ceil_mode=True),
            F.avg_pool2d(x, 2, stride=1, padding=0, divisor_override=18),
            F.avg_pool2d(y, 3, stride=2, ceil_mode=True, count_include_pad=False),
        )


@case(inputs=[(1, 12, 17, 24, 32), (12, 17, 24, 32)], ncnn_inputs=[(1, 12, 17, 24, 32)])
class F_avg_pool3d(nn.Module):
    def forward(self, x, y=None):
        pooled = (
            F.avg_pool3d(x, kernel_size=3),
            F.avg_pool3d(x, kernel_size=4, stride=2, padding=2),
            F.avg_pool3d(x, (1, 2, 3), stride=1, padding=(0, 0, 1), count_include_pad=True),
            F.avg_pool3d(x, (3, 4, 5), stride=(1, 2, 2), ceil_mode=True, count_include_pad=False),
            F.avg_pool3d(x, (5, 4, 3), stride=(2, 1, 1), padding=1, count_include_pad=False),
        )
        if y is None:
            return pooled
        return (
            *pooled,
            F.avg_pool3d(x, (3, 4, 5), stride=(1, 2, 2), padding=(1, 2, 2), ceil_mode=True),
            F.avg_pool3d(x, 2, stride=1, padding=0, divisor_override=77),
            F.avg_pool3d(y, 3, stride=2, ceil_mode=True, count_include_pad=False),
        )


@case(inputs=[(1, 12, 33), (12, 33)], ncnn_inputs=[(1, 12, 33)])
class F_max_pool1d(nn.Module):
    def forward(self, x, y=None):
        pooled = (
            F.max_pool1d(x, kernel_size=3),
            F.max_pool1d(x, kernel_size=4, stride=2, padding=2),
            F.max_pool1d(x, kernel_size=5, stride=2, padding=2, ceil_mode=True),
        )
        if y is None:
            return pooled
        values, places = F.max_pool1d(x, kernel_size=3, stride=2, return_indices=True)
        return (
            *pooled,
            F.max_pool1d(x, 3, stride=1, padding=1, dilation=2),
            F.max_pool1d(y, kernel_size=2, stride=3, ceil_mode=True),
            values,
            places,
        )


@case(inputs=[(1, 12, 33, 64), (12, 33, 64)], ncnn_inputs=[(1, 12, 33, 64)])
class F_max_pool2d(nn.Module):
    def forward(self, x, y=None):
        pooled = (
            F.max_pool2d(x, kernel_size=3),
            F.max_pool2d(x, kernel_size=4, stride=2, padding=2),
            F.max_pool2d(x, (4, 5), stride=(1, 2), padding=(1, 2), ceil_mode=True),
        )
        if y is None:
            return pooled
        values, places = F.max_pool2d(x, (5, 4), stride=2, padding=1, return_indices=True)
        return (
            *pooled,
            F.max_pool2d(x, (1, 3), stride=1, padding=(0, 1), dilation=(1, 2)),
            F.max_pool2d(x, (2, 3), stride=(3, 1), dilation=3, ceil_mode=False),
            F.max_pool2d(y, 3, stride=2, ceil_mode=True),
            values,
            places,
        )


@case(inputs=[(1, 12, 17, 24, 32), (12, 17, 24, 32)], ncnn_inputs=[(1, 12, 17, 24, 32)])
class F_max_pool3d(nn.Module):
    def forward(self, x, y=None):
        pooled = (
            F.max_pool3d(x, kernel_size=3),
            F.max_pool3d(x, kernel_size=4, stride=2, padding=2),
            F.max_pool3d(x, (3, 4, 5), stride=(1, 2, 2), padding=(1, 2, 2), ceil_mode=True),
        )
        if y is None:
            return pooled
        values, places = F.max_pool3d(x, (3, 5, 4), stride=2, padding=1, return_indices=True)
        return (
            *pooled,
            F.max_pool3d(x, (1, 2, 3), stride=1, padding=(0, 0, 1), dilation=(1, 1, 2)),
            F.max_pool3d(x, (2, 3, 3), stride=(3, 1, 1), dilation=3, ceil_mode=False),
            F.max_pool3d(y, 3, stride=2, ceil_mode=True),
            values,
            places,
        )


@case(inputs=[(1, 12, 33), (12, 33)])
class F_lp_pool1d(nn.Module):
    def forward(self, x, y):
        return (
            F.lp_pool1d(x, norm_type=2, kernel_size=3),
            F.lp_pool1d(x, norm_type=2, kernel_size=4, stride=2),
            F.lp_pool1d(x, norm_type=1, kernel_size=3, stride=1, ceil_mode=False),
            F.lp_pool1d(x, norm_type=1, kernel_size=5, stride=2, ceil_mode=True),
            F.lp_pool1d(x, norm_type=1.2, kernel_size=3, stride=2),
            F.lp_pool1d(y, norm_type=3, kernel_size=4, stride=2, ceil_mode=True),
        )


@case(inputs=[(1, 12, 33, 64), (12, 33, 64)])
class F_lp_pool2d(nn.Module):
    def forward(self, x, y):
        return (
            F.lp_pool2d(x, norm_type=2, kernel_size=3),
            F.lp_pool2d(x, norm_type=2, kernel_size=4, stride=2),
            F.lp_pool2d(x, norm_type=1, kernel_size=(1, 3), stride=1, ceil_mode=False),
            F.lp_pool2d(x, norm_type=1, kernel_size=(4, 5), stride=(1, 2), ceil_mode=True),
            F.lp_pool2d(x, norm_type=1.2, kernel_size=(5, 3), stride=(2, 1)),
            F.lp_pool2d(y, norm_type=3, kernel_size=2, stride=1, ceil_mode=True),
        )
