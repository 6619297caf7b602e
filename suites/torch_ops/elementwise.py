"""Functions of each element, and choices between elements."""

import torch
import torch.nn as nn

from suites.case import Input, case

RANKS = [(3, 16), (1, 5, 9, 11), (14, 8, 5, 9, 10)]
NCNN_RANKS = [(3, 16), (1, 5, 9, 11), (8, 5, 9, 10)]
"""ncnn has four dims at most, and integers only as indices."""


@case(inputs=[*RANKS, Input((3, 4), "int64")], ncnn_inputs=NCNN_RANKS)
class torch_abs(nn.Module):
    def forward(self, x, y, z, n=None):
        results = torch.abs(x - 0.5), (y - 0.5).abs(), abs(z - 0.5)
        return results if n is None else (*results, torch.abs(n - 5))


@case(inputs=[*RANKS, Input((3, 4), "int64")], ncnn_inputs=NCNN_RANKS)
class torch_clamp(nn.Module):
    """Both bounds, either bound, and bounds that are tensors."""

    def forward(self, x, y, z, n=None):
        results = (
            torch.clamp(x, -1, 0.5),
            torch.clamp(x, min=0.1, max=0.7),
            torch.clamp(y, min=0.3),
            y.clamp(max=0.6),
            torch.clip(z, 0.25, 0.75),
        )
        if n is None:
            return results
        return (
            *results,
            torch.clamp(y, min=x[0, 0], max=x[0, :11] + 0.5),
            n.clamp(2, 7),
        )


@case(inputs=RANKS, ncnn_inputs=NCNN_RANKS)
class torch_exp(nn.Module):
    def forward(self, x, y, z):
        return torch.exp(x), torch.exp(y * 4 - 2), (z - 1).exp()


@case(inputs=RANKS, ncnn_inputs=NCNN_RANKS)
class torch_sqrt(nn.Module):
    def forward(self, x, y, z):
        return torch.sqrt(x), torch.sqrt(y + 1) * 2, z.sqrt()


@case(inputs=[*RANKS, Input((3, 4), "int64")], ncnn_inputs=NCNN_RANKS)
class torch_pow(nn.Module):
    """Numbers and tensors on either side."""

    def forward(self, x, y, z, n=None):
        results = (
            torch.pow(x, 2),
            torch.pow(x, 1.5),
            y**3,
            y.pow(-0.5),
            torch.pow(y, x[0, :11]),
            torch.pow(2, x),
            1.5**z,
        )
        return results if n is None else (*results, n**2)


@case(inputs=[*RANKS, (3, 16), Input((3, 16), "int64")])
class torch_where(nn.Module):
    """Tensors and numbers, broadcast against each other."""

    def forward(self, x, y, z, w, n):
        return (
            torch.where(x > w, x, w),
            torch.where(x > 0.5, x * 2, w[:1]),
            torch.where(y < 0.2, y, 0.0),
            torch.where(z > 0.5, 1.0, z),
            torch.where(n == 4, n, 0),
        )


@case(inputs=[(3, 16), (1, 5, 9, 11), Input((3, 5), "int64"), Input((1, 5, 9, 2), "int64")])
class torch_gather(nn.Module):
    def forward(self, x, y, i, j):
        return (
            torch.gather(x, 1, i),
            torch.gather(x, dim=-1, index=i + 3),
            torch.gather(y, 3, j),
            y.gather(2, j.clamp(max=8)),
        )
