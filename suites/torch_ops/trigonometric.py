"""Trigonometric and hyperbolic functions and their inverses, within and beyond their domains.

ncnn has four dims at most, and no integers that are data.
"""

import torch
import torch.nn as nn

from suites.case import Input, case

RANKS = [(3, 16), (1, 5, 9, 11), (14, 8, 5, 9, 10)]
NCNN_RANKS = [(3, 16), (1, 5, 9, 11), (8, 5, 9, 10)]
INTEGERS = Input((3, 4), "int64")


@case(inputs=[*RANKS, INTEGERS], ncnn_inputs=NCNN_RANKS)
class torch_sin(nn.Module):
    def forward(self, x, y, z, n=None):
        results = torch.sin(x), torch.sin(y * 6 - 3), (z * 100).sin()
        return results if n is None else (*results, torch.sin(n))


@case(inputs=[*RANKS, INTEGERS], ncnn_inputs=NCNN_RANKS)
class torch_cos(nn.Module):
    def forward(self, x, y, z, n=None):
        results = torch.cos(x), torch.cos(y * 6 - 3), (z * 100).cos()
        return results if n is None else (*results, torch.cos(n))


@case(inputs=[*RANKS, INTEGERS], ncnn_inputs=NCNN_RANKS)
class torch_tan(nn.Module):
    def forward(self, x, y, z, n=None):
        results = torch.tan(x), torch.tan(y * 2 - 1), (z - 0.5).tan()
        return results if n is None else (*results, torch.tan(n))


@case(inputs=[*RANKS, INTEGERS], ncnn_inputs=NCNN_RANKS)
class torch_asin(nn.Module):
    """Of what is outside of [-1, 1] it is NaN."""

    def forward(self, x, y, z, n=None):
        results = torch.asin(x), torch.arcsin(y * 2 - 1), (z - 0.5).asin()
        return results if n is None else (*results, torch.asin(n), torch.asin(x * 3))


@case(inputs=[*RANKS, INTEGERS], ncnn_inputs=NCNN_RANKS)
class torch_acos(nn.Module):
    """Of what is outside of [-1, 1] it is NaN."""

    def forward(self, x, y, z, n=None):
        results = torch.acos(x), torch.arccos(y * 2 - 1), (z - 0.5).acos()
        return results if n is None else (*results, torch.acos(n), torch.acos(x * 3))


@case(inputs=[*RANKS, INTEGERS], ncnn_inputs=NCNN_RANKS)
class torch_atan(nn.Module):
    def forward(self, x, y, z, n=None):
        results = torch.atan(x), torch.arctan(y * 20 - 10), (z - 0.5).atan()
        return results if n is None else (*results, torch.atan(n))


@case(inputs=[*RANKS, (3, 16), (5, 1, 11)], ncnn_inputs=[*NCNN_RANKS, (3, 16), (5, 1, 11)])
class torch_atan2(nn.Module):
    """In all four quadrants, and of tensors that are broadcast."""

    def forward(self, x, y, z, w, v):
        return (
            torch.atan2(x - 0.5, w - 0.5),
            torch.atan2(y, v),
            torch.arctan2(x, other=w[:1]),
            (z - 0.5).atan2(v[0, 0, :10] - 0.5),
        )


@case(inputs=[*RANKS, INTEGERS], ncnn_inputs=NCNN_RANKS)
class torch_sinh(nn.Module):
    def forward(self, x, y, z, n=None):
        results = torch.sinh(x), torch.sinh(y * 6 - 3), (z - 0.5).sinh()
        return results if n is None else (*results, torch.sinh(n))


@case(inputs=[*RANKS, INTEGERS], ncnn_inputs=NCNN_RANKS)
class torch_cosh(nn.Module):
    def forward(self, x, y, z, n=None):
        results = torch.cosh(x), torch.cosh(y * 6 - 3), (z - 0.5).cosh()
        return results if n is None else (*results, torch.cosh(n))


@case(inputs=[*RANKS, INTEGERS], ncnn_inputs=NCNN_RANKS)
class torch_tanh(nn.Module):
    def forward(self, x, y, z, n=None):
        results = torch.tanh(x), torch.tanh(y * 6 - 3), (z - 0.5).tanh()
        return results if n is None else (*results, torch.tanh(n))


@case(inputs=[*RANKS, INTEGERS], ncnn_inputs=NCNN_RANKS)
class torch_asinh(nn.Module):
    def forward(self, x, y, z, n=None):
        results = torch.asinh(x), torch.arcsinh(y * 20 - 10), (z - 0.5).asinh()
        return results if n is None else (*results, torch.asinh(n))


@case(inputs=[*RANKS, INTEGERS], ncnn_inputs=NCNN_RANKS)
class torch_acosh(nn.Module):
    """Of what is below 1 it is NaN."""

    def forward(self, x, y, z, n=None):
        results = torch.acosh(x + 1), torch.arccosh(y * 9 + 1.5), (z + 2).acosh()
        return results if n is None else (*results, torch.acosh(n), torch.acosh(x))


@case(inputs=[*RANKS, INTEGERS], ncnn_inputs=NCNN_RANKS)
class torch_atanh(nn.Module):
    """Of 1 it is infinite, of what is beyond NaN."""

    def forward(self, x, y, z, n=None):
        results = torch.atanh(x), torch.arctanh(y * 1.8 - 0.9), (z - 0.5).atanh()
        return results if n is None else (*results, torch.atanh(n), torch.atanh(x * 3))
