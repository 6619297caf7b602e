"""Rounding, signs, exponentials, logarithms, roots and powers of each element.

ncnn has four dims at most, and no integers that are data.
"""

import torch
import torch.nn as nn

from suites.case import Input, case

RANKS = [(3, 16), (1, 5, 9, 11), (14, 8, 5, 9, 10)]
NCNN_RANKS = [(3, 16), (1, 5, 9, 11), (8, 5, 9, 10)]
INTEGERS = Input((3, 4), "int64")


@case(inputs=[*RANKS, INTEGERS], ncnn_inputs=NCNN_RANKS)
class torch_ceil(nn.Module):
    def forward(self, x, y, z, n=None):
        results = torch.ceil(x), torch.ceil(y * 10 - 5), (z - 0.5).ceil()
        return results if n is None else (*results, torch.ceil(n))


@case(inputs=[*RANKS, INTEGERS], ncnn_inputs=NCNN_RANKS)
class torch_floor(nn.Module):
    def forward(self, x, y, z, n=None):
        results = torch.floor(x), torch.floor(y * 10 - 5), (z - 0.5).floor()
        return results if n is None else (*results, torch.floor(n))


@case(inputs=[*RANKS, INTEGERS], ncnn_inputs=NCNN_RANKS)
class torch_trunc(nn.Module):
    def forward(self, x, y, z, n=None):
        results = torch.trunc(x), torch.fix(y * 10 - 5), (z - 0.5).trunc()
        return results if n is None else (*results, torch.trunc(n))


@case(inputs=[*RANKS, INTEGERS], ncnn_inputs=NCNN_RANKS)
class torch_round(nn.Module):
    """Halves to the even neighbour, of float inputs and of multiples of a half."""

    def forward(self, x, y, z, n=None):
        results = torch.round(x), torch.round(y * 10 - 5), (z - 0.5).round()
        return results if n is None else (*results, torch.round(n), torch.round(n * 0.5 - 2))


@case(inputs=[*RANKS, INTEGERS], ncnn_inputs=NCNN_RANKS)
class torch_sign(nn.Module):
    def forward(self, x, y, z, n=None):
        results = torch.sign(x), torch.sign(y * 10 - 5), (z - 0.5).sign()
        return results if n is None else (*results, torch.sign(n - 5))


@case(inputs=[*RANKS, INTEGERS], ncnn_inputs=NCNN_RANKS)
class torch_neg(nn.Module):
    def forward(self, x, y, z, n=None):
        results = torch.neg(x), torch.negative(y * 10 - 5), (z - 0.5).neg(), -x + 1
        return results if n is None else (*results, -n)


@case(inputs=[*RANKS, INTEGERS])
class torch_positive(nn.Module):
    def forward(self, x, y, z, n):
        return torch.positive(x), +y, (z - 0.5).positive() * 2, torch.positive(n)


@case(inputs=[*RANKS, INTEGERS], ncnn_inputs=NCNN_RANKS)
class torch_reciprocal(nn.Module):
    """Of 0 it is infinite."""

    def forward(self, x, y, z, n=None):
        results = torch.reciprocal(x + 0.1), torch.reciprocal(y * 10 - 11), (z + 0.5).reciprocal()
        return results if n is None else (*results, torch.reciprocal(n))


@case(inputs=[*RANKS, INTEGERS], ncnn_inputs=NCNN_RANKS)
class torch_square(nn.Module):
    def forward(self, x, y, z, n=None):
        results = torch.square(x), torch.square(y * 10 - 5), (z - 0.5).square()
        return results if n is None else (*results, torch.square(n))


@case(inputs=[*RANKS, INTEGERS], ncnn_inputs=NCNN_RANKS)
class torch_rsqrt(nn.Module):
    """Of 0 it is infinite, of negative numbers NaN."""

    def forward(self, x, y, z, n=None):
        results = torch.rsqrt(x + 0.1), torch.rsqrt(y * 10 + 1), (z + 0.5).rsqrt()
        return results if n is None else (*results, torch.rsqrt(n), torch.rsqrt(x - 0.5))


@case(inputs=[*RANKS, INTEGERS], ncnn_inputs=NCNN_RANKS)
class torch_expm1(nn.Module):
    def forward(self, x, y, z, n=None):
        results = torch.expm1(x), torch.expm1(y * 4 - 2), (z * 0.01).expm1()
        return results if n is None else (*results, torch.expm1(n))


@case(inputs=[*RANKS, INTEGERS], ncnn_inputs=NCNN_RANKS)
class torch_log(nn.Module):
    """Of 0 it is minus infinity, of negative numbers NaN."""

    def forward(self, x, y, z, n=None):
        results = torch.log(x + 0.1), torch.log(y * 100 + 1), (z + 0.5).log()
        return results if n is None else (*results, torch.log(n), torch.log(x - 0.5))


@case(inputs=[*RANKS, INTEGERS], ncnn_inputs=NCNN_RANKS)
class torch_log10(nn.Module):
    """Of 0 it is minus infinity, of negative numbers NaN."""

    def forward(self, x, y, z, n=None):
        results = torch.log10(x + 0.1), torch.log10(y * 100 + 1), (z + 0.5).log10()
        return results if n is None else (*results, torch.log10(n), torch.log10(x - 0.5))


@case(inputs=[*RANKS, INTEGERS], ncnn_inputs=NCNN_RANKS)
class torch_log1p(nn.Module):
    def forward(self, x, y, z, n=None):
        results = torch.log1p(x), torch.log1p(y * 100), (z * 0.01).log1p()
        return results if n is None else (*results, torch.log1p(n), torch.log1p(x * -2))


@case(inputs=[*RANKS, INTEGERS], ncnn_inputs=NCNN_RANKS)
class torch_erf(nn.Module):
    def forward(self, x, y, z, n=None):
        results = torch.erf(x), torch.erf(y * 6 - 3), (z - 0.5).erf()
        return results if n is None else (*results, torch.erf(n))


@case(inputs=[*RANKS, INTEGERS])
class torch_lgamma(nn.Module):
    """Of 0 and of negative integers it is infinite."""

    def forward(self, x, y, z, n):
        return torch.lgamma(x), torch.lgamma(y * 10 - 5), (z + 0.5).lgamma(), torch.lgamma(n - 5)


@case(inputs=[*RANKS, INTEGERS], ncnn_inputs=NCNN_RANKS)
class torch_clone(nn.Module):
    """A copy that is returned, computed with, and written to while the original stays."""

    def forward(self, x, y, z, n=None):
        results = torch.clone(x) + 1, torch.clone(y) * 0.5, z.clone() * 2
        if n is None:
            return results
        written = torch.clone(y)
        written[:, 1:3] = 0.5
        return (
            *results,
            torch.clone(x),
            y + written,
            written,
            n.clone(memory_format=torch.contiguous_format),
            x.t().clone(memory_format=torch.preserve_format),
        )
