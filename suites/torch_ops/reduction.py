"""Reductions over no dim, one and several, kept and dropped.

ncnn has four dims at most, no places of maxima and no integers that are data.
"""

import torch
import torch.nn as nn

from suites.case import Input, case

RANKS = [(3, 16), (1, 5, 9, 11), (2, 8, 5, 9, 10)]
NCNN_RANKS = RANKS[:2]


@case(inputs=[*RANKS, Input((3, 4), "int64")], ncnn_inputs=NCNN_RANKS)
class torch_sum(nn.Module):
    def forward(self, x, y, z=None, n=None):
        sums = (
            torch.sum(x),
            torch.sum(x, dim=1, keepdim=False),
            torch.sum(y, (2, 3), keepdim=True),
            y.sum(dim=-1, keepdim=True),
        )
        if z is None:
            return sums
        return *sums, torch.sum(z, dim=(1, -1)), torch.sum(z, 0), n.sum(), n.sum(dim=0)


@case(inputs=RANKS, ncnn_inputs=NCNN_RANKS)
class torch_mean(nn.Module):
    def forward(self, x, y, z=None):
        means = (
            torch.mean(x),
            torch.mean(x, dim=1, keepdim=False),
            torch.mean(y, (2, 3), keepdim=True),
            y.mean(dim=-1, keepdim=True),
        )
        if z is None:
            return means
        return *means, torch.mean(z, dim=(1, -1)), torch.mean(z, -4)


@case(inputs=[*RANKS, Input((3, 4), "int64")], ncnn_inputs=NCNN_RANKS)
class torch_prod(nn.Module):
    def forward(self, x, y, z=None, n=None):
        products = torch.prod(x + 0.5, dim=1), torch.prod(y + 0.5, 2, keepdim=True)
        if z is None:
            return products
        return *products, (z + 0.5).prod(dim=-1), n.prod(0)


@case(inputs=[*RANKS, Input((3, 4), "int64")], ncnn_inputs=NCNN_RANKS)
class torch_max(nn.Module):
    """Of all, with and without places, and of two tensors."""

    def forward(self, x, y, z=None, n=None):
        values, places = torch.max(x, dim=1)
        kept, kept_places = torch.max(y, dim=-2, keepdim=True)
        results = torch.max(x), values, kept, torch.max(y, y[:, :1] * 2)
        if z is None:
            return results
        only, _ = torch.max(z, 1)
        return *results, places, kept_places, only, torch.max(y, z[0, :5, 0, :, :1]), n.max()


@case(inputs=[*RANKS, Input((3, 4), "int64")], ncnn_inputs=NCNN_RANKS)
class torch_min(nn.Module):
    def forward(self, x, y, z=None, n=None):
        values, places = torch.min(x, dim=1)
        kept, kept_places = torch.min(y, dim=-2, keepdim=True)
        results = torch.min(x), values, kept, torch.min(y, y[:, :1] * 2)
        if z is None:
            return results
        only, _ = torch.min(z, 1)
        return *results, places, kept_places, only, torch.min(y, z[0, :5, 0, :, :1]), n.min()


@case(inputs=RANKS, ncnn_inputs=NCNN_RANKS)
class torch_amax(nn.Module):
    def forward(self, x, y, z=None):
        results = (
            torch.amax(x, dim=1),
            torch.amax(y, (2, 3), keepdim=True),
            y.amax(dim=-1, keepdim=True),
        )
        return results if z is None else (*results, torch.amax(z, dim=(0, -1)))


@case(inputs=RANKS, ncnn_inputs=NCNN_RANKS)
class torch_amin(nn.Module):
    def forward(self, x, y, z=None):
        results = (
            torch.amin(x, dim=1),
            torch.amin(y, (2, 3), keepdim=True),
            y.amin(dim=-1, keepdim=True),
        )
        return results if z is None else (*results, torch.amin(z, dim=(0, -1)))


@case(inputs=[*RANKS, Input((3, 4), "int64")])
class torch_argmax(nn.Module):
    def forward(self, x, y, z, n):
        return (
            torch.argmax(x),
            torch.argmax(x, dim=1),
            torch.argmax(y, dim=-2, keepdim=True),
            z.argmax(2),
            n.argmax(dim=0),
        )


@case(inputs=[*RANKS, Input((3, 4), "int64")])
class torch_argmin(nn.Module):
    def forward(self, x, y, z, n):
        return (
            torch.argmin(x),
            torch.argmin(x, dim=1),
            torch.argmin(y, dim=-2, keepdim=True),
            z.argmin(2),
            n.argmin(dim=0),
        )


@case(inputs=RANKS)
class torch_std(nn.Module):
    """With and without Bessel's correction."""

    def forward(self, x, y, z):
        return (
            torch.std(x, dim=1),
            torch.std(x, 0, unbiased=False),
            torch.std(y, (2, 3), unbiased=False, keepdim=True),
            y.std(dim=-1, keepdim=True),
            torch.std(z, dim=(1, -1), unbiased=True),
            torch.std(z, -4, False),
        )


@case(inputs=RANKS, ncnn_inputs=NCNN_RANKS)
class torch_logsumexp(nn.Module):
    def forward(self, x, y, z=None):
        results = (
            torch.logsumexp(x, 1),
            torch.logsumexp(y, dim=(2, 3), keepdim=True),
            y.logsumexp(dim=-1, keepdim=True),
        )
        return results if z is None else (*results, torch.logsumexp(z, dim=(1, -1)))


@case(inputs=RANKS, ncnn_inputs=NCNN_RANKS)
class torch_norm(nn.Module):
    """The Frobenius norm of all, and p-norms along dims."""

    def forward(self, x, y, z=None):
        norms = (
            torch.norm(x),
            torch.norm(x, dim=1),
            torch.norm(y, p=2, dim=-1, keepdim=True),
            torch.norm(y, p=1, dim=2),
        )
        if z is None:
            return norms
        return *norms, torch.norm(z, dim=(1, 2), keepdim=True), z.norm(p=2.0, dim=3)


@case(
    inputs=[(12,), (3, 16), (1, 5, 9, 11), Input((3, 4), "int64")],
    ncnn_inputs=[(12,), (3, 16), (1, 5, 9, 11)],
)
class torch_cumsum(nn.Module):
    def forward(self, x, y, z, n=None):
        sums = (
            torch.cumsum(x, 0),
            torch.cumsum(y, dim=1),
            y.cumsum(-2),
            torch.cumsum(z, dim=2),
            torch.cumsum(z, -1),
        )
        return sums if n is None else (*sums, n.cumsum(1))


@case(inputs=[(12,), (3, 16), (1, 5, 9, 11), Input((3, 4), "int64")])
class torch_cumprod(nn.Module):
    def forward(self, x, y, z, n):
        return (
            torch.cumprod(x + 0.5, 0),
            torch.cumprod(y + 0.5, dim=1),
            (y + 0.5).cumprod(-2),
            torch.cumprod(z + 0.5, dim=2),
            torch.cumprod(z, -1),
            n.cumprod(1),
        )


@case(inputs=[(12,), (3, 16), (1, 5, 9, 11)])
class torch_topk(nn.Module):
    """The largest and the smallest, along the last dim and others."""

    def forward(self, x, y, z):
        x0, i0 = torch.topk(x, 4)
        x1, i1 = torch.topk(y, k=1, dim=1, largest=False)
        x2, i2 = torch.topk(y, 2, 0, True, True)
        x3, i3 = z.topk(3, dim=-2, largest=True, sorted=True)
        return x0, i0, x1, i1, x2, i2, x3, i3
