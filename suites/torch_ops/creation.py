"""Tensors made of sizes, numbers and other tensors' shapes."""

import torch
import torch.nn as nn

from suites.case import Input, case

TEMPLATES = [(3, 16), (1, 5, 9, 11), Input((2, 4), "int64"), Input((2, 4), "complex64")]


@case(inputs=[(3, 4), Input((3, 4), "int64")])
class torch_zeros(nn.Module):
    """Sizes apart and together, dtypes, sizes of another tensor; returned and computed with."""

    def forward(self, x, n):
        return (
            torch.zeros(3, 4) + x,
            torch.zeros((2, 3, 4)),
            torch.zeros([4], dtype=torch.int32),
            torch.zeros(size=(3, 1), dtype=torch.int64) + n,
            torch.zeros(x.shape, device=x.device, dtype=x.dtype) - x,
            torch.zeros(2, x.size(1)),
            torch.zeros(5, dtype=torch.bool),
        )


@case(inputs=[(3, 4), Input((3, 4), "int64")])
class torch_ones(nn.Module):
    """Sizes apart and together, dtypes, sizes of another tensor; returned and computed with."""

    def forward(self, x, n):
        return (
            torch.ones(3, 4) + x,
            torch.ones((2, 3, 4)),
            torch.ones([4], dtype=torch.int32),
            torch.ones(size=(3, 1), dtype=torch.int64) + n,
            torch.ones(x.shape, device=x.device, dtype=x.dtype) - x,
            torch.ones(2, x.size(1)),
            torch.ones(5, dtype=torch.bool),
        )


@case(inputs=[(3, 4), Input((3, 4), "int64")])
class torch_full(nn.Module):
    """Numbers of each kind; the dtype follows from the number, or is given."""

    def forward(self, x, n):
        return (
            torch.full((3, 4), 0.25) + x,
            torch.full([2, 3, 4], -3),
            torch.full((4,), 7.5, dtype=torch.int32),
            torch.full(size=(3, 1), fill_value=2, dtype=torch.int64) + n,
            torch.full(x.shape, float("-inf"), device=x.device, dtype=x.dtype),
            torch.full((2, x.size(1)), 1e-5),
            torch.full((5,), 1, dtype=torch.bool),
        )


@case(
    inputs=[(3, 4), Input((5,), "int64")],
    options={"inputshape2": "[3,4]f32,[8]i64"},
)
class torch_arange(nn.Module):
    """Counts, ranges and steps of integers and floats, forward and back; to a dynamic size."""

    def forward(self, x, n):
        return (
            torch.arange(5) + n[:5],
            torch.arange(n.size(0)) + n,
            torch.arange(1, n.size(0)),
            torch.arange(0, n.size(0) * 2, 2, dtype=torch.float32) * n,
            torch.arange(4, dtype=torch.float32) * x,
            torch.arange(2, 7),
            torch.arange(1, 10, 3, dtype=torch.int32),
            torch.arange(0, 1, 0.25) + x,
            torch.arange(start=5, end=-5, step=-2),
            torch.arange(0.5, 3.5),
            torch.arange(x.size(1), device=x.device) < n[:4],
        )


@case(inputs=TEMPLATES)
class torch_zeros_like(nn.Module):
    def forward(self, x, y, n, c):
        return (
            torch.zeros_like(x) + x,
            torch.zeros_like(y),
            torch.zeros_like(n) - n,
            torch.zeros_like(x, dtype=torch.int64),
            torch.zeros_like(c),
        )


@case(inputs=TEMPLATES)
class torch_ones_like(nn.Module):
    def forward(self, x, y, n, c):
        return (
            torch.ones_like(x) + x,
            torch.ones_like(y),
            torch.ones_like(n) - n,
            torch.ones_like(x, dtype=torch.int64),
            torch.ones_like(c),
        )


@case(inputs=TEMPLATES)
class torch_full_like(nn.Module):
    def forward(self, x, y, n, c):
        return (
            torch.full_like(x, 0.5) + x,
            torch.full_like(y, fill_value=-2),
            torch.full_like(n, 3) - n,
            torch.full_like(x, 7, dtype=torch.int64),
            torch.full_like(n, 1.5, dtype=torch.float32),
            torch.full_like(c, 2),
        )
