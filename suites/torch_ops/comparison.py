"""Comparisons, logic, bits, and the larger or smaller of two tensors.

ncnn has four dims at most, no booleans and no integers that are data.
"""

import torch
import torch.nn as nn

from suites.case import Input, case

FLOATS = [(3, 16), (3, 16), (1, 5, 9, 11), (5, 1, 11)]
"""Two of the same shape, and two that are broadcast against each other."""

INTEGERS = [Input((3, 4), "int64"), Input((3, 4), "int64"), Input((2, 3, 4), "int32")]


@case(inputs=[*FLOATS, *INTEGERS])
class torch_eq(nn.Module):
    def forward(self, x, y, z, w, n, m, k):
        return (
            torch.eq(x, y),
            torch.eq(x.round(), y.round()),
            z.floor() == w.floor(),
            torch.eq(n, m),
            n.eq(3),
            k == n,
            torch.eq(n, 2.5),
            n == x[:, :4],
        )


@case(inputs=[*FLOATS, *INTEGERS])
class torch_ne(nn.Module):
    def forward(self, x, y, z, w, n, m, k):
        return (
            torch.ne(x, y),
            torch.not_equal(x.round(), y.round()),
            z.floor() != w.floor(),
            torch.ne(n, m),
            n.ne(3),
            k != n,
            torch.ne(n, 2.5),
        )


@case(inputs=[*FLOATS, *INTEGERS])
class torch_lt(nn.Module):
    def forward(self, x, y, z, w, n, m, k):
        return (
            torch.lt(x, y),
            torch.less(z, w),
            x < 0.5,
            z > 0.25,
            torch.lt(n, m),
            n.lt(3),
            k < n,
            n < 2.5,
        )


@case(inputs=[*FLOATS, *INTEGERS])
class torch_le(nn.Module):
    def forward(self, x, y, z, w, n, m, k):
        return (
            torch.le(x, y),
            torch.less_equal(z, w),
            x <= 0.5,
            z >= 0.25,
            torch.le(n, m),
            n.le(3),
            k <= n,
            n <= 2.5,
        )


@case(inputs=[*FLOATS, *INTEGERS])
class torch_gt(nn.Module):
    def forward(self, x, y, z, w, n, m, k):
        return (
            torch.gt(x, y),
            torch.greater(z, w),
            x > 0.5,
            z < 0.25,
            torch.gt(n, m),
            n.gt(3),
            k > n,
            n > 2.5,
        )


@case(inputs=[*FLOATS, *INTEGERS])
class torch_ge(nn.Module):
    def forward(self, x, y, z, w, n, m, k):
        return (
            torch.ge(x, y),
            torch.greater_equal(z, w),
            x >= 0.5,
            z <= 0.25,
            torch.ge(n, m),
            n.ge(3),
            k >= n,
            n >= 2.5,
        )


@case(inputs=[*FLOATS, *INTEGERS], ncnn_inputs=FLOATS)
class torch_maximum(nn.Module):
    def forward(self, x, y, z, w, n=None, m=None, k=None):
        results = torch.maximum(x, y), torch.maximum(z, w), x.maximum(y[:1] * 2), w.maximum(z)
        if n is None:
            return results
        return *results, torch.maximum(n, m), torch.maximum(k, n), n.maximum(x[:, :4])


@case(inputs=[*FLOATS, *INTEGERS], ncnn_inputs=FLOATS)
class torch_minimum(nn.Module):
    def forward(self, x, y, z, w, n=None, m=None, k=None):
        results = torch.minimum(x, y), torch.minimum(z, w), x.minimum(y[:1] * 2), w.minimum(z)
        if n is None:
            return results
        return *results, torch.minimum(n, m), torch.minimum(k, n), n.minimum(x[:, :4])


@case(inputs=FLOATS)
class torch_logaddexp(nn.Module):
    def forward(self, x, y, z, w):
        return (
            torch.logaddexp(x, y),
            torch.logaddexp(z * 200 - 100, w),
            x.logaddexp(y[:1]),
            torch.logaddexp(x, other=y - 3),
        )


@case(inputs=[*FLOATS[:2], *INTEGERS])
class torch_logical_and(nn.Module):
    def forward(self, x, y, n, m, k):
        return (
            torch.logical_and(x > 0.5, y > 0.5),
            torch.logical_and(x.round(), y < 0.3),
            torch.logical_and(n, m - 5),
            k.logical_and(n),
            torch.logical_and(n > 2, m < 8) * n,
        )


@case(inputs=[*FLOATS[:2], *INTEGERS])
class torch_logical_or(nn.Module):
    def forward(self, x, y, n, m, k):
        return (
            torch.logical_or(x > 0.5, y > 0.5),
            torch.logical_or(x.round(), y < 0.3),
            torch.logical_or(n, m - 5),
            k.logical_or(n),
            torch.logical_or(n < 2, m > 8) * n,
        )


@case(inputs=[*FLOATS[:2], *INTEGERS])
class torch_logical_xor(nn.Module):
    def forward(self, x, y, n, m, k):
        return (
            torch.logical_xor(x > 0.5, y > 0.5),
            torch.logical_xor(x.round(), y < 0.3),
            torch.logical_xor(n, m - 5),
            k.logical_xor(n),
            torch.logical_xor(n > 2, m < 8) * n,
        )


@case(inputs=[*FLOATS[:2], *INTEGERS])
class torch_logical_not(nn.Module):
    def forward(self, x, y, n, m, k):
        return (
            torch.logical_not(x > 0.5),
            torch.logical_not(y.round()),
            n.logical_not(),
            torch.logical_not(k - m[0]),
        )


@case(inputs=[*FLOATS[:2], *INTEGERS, Input((3, 4), "uint8")])
class torch_bitwise_and(nn.Module):
    """Of integers of several widths, of booleans and of numbers."""

    def forward(self, x, y, n, m, k, b):
        return (
            torch.bitwise_and(n, m),
            n & 6,
            k & n,
            k.bitwise_and(k - 5),
            torch.bitwise_and(b, 3),
            (x > 0.5) & (y > 0.5),
            torch.bitwise_and(x > 0.5, (y < 0.3)[:1]),
        )


@case(inputs=[*FLOATS[:2], *INTEGERS, Input((3, 4), "uint8")])
class torch_bitwise_or(nn.Module):
    """Of integers of several widths, of booleans and of numbers."""

    def forward(self, x, y, n, m, k, b):
        return (
            torch.bitwise_or(n, m),
            n | 6,
            k | n,
            k.bitwise_or(k - 5),
            torch.bitwise_or(b, 3),
            (x > 0.5) | (y > 0.5),
            torch.bitwise_or(x > 0.5, (y < 0.3)[:1]),
        )


@case(inputs=[*FLOATS[:2], *INTEGERS, Input((3, 4), "uint8")])
class torch_bitwise_xor(nn.Module):
    """Of integers of several widths, of booleans and of numbers."""

    def forward(self, x, y, n, m, k, b):
        return (
            torch.bitwise_xor(n, m),
            n ^ 6,
            k ^ n,
            k.bitwise_xor(k - 5),
            torch.bitwise_xor(b, 3),
            (x > 0.5) ^ (y > 0.5),
            torch.bitwise_xor(x > 0.5, (y < 0.3)[:1]),
        )


@case(inputs=[*FLOATS[:2], *INTEGERS, Input((3, 4), "uint8")])
class torch_bitwise_not(nn.Module):
    """Of integers of several widths, and of booleans."""

    def forward(self, x, y, n, m, k, b):
        return torch.bitwise_not(n), ~(m - 5), k.bitwise_not(), torch.bitwise_not(b), ~(x > y)


@case(inputs=[*INTEGERS, Input((3, 4), "uint8")])
class torch_bitwise_left_shift(nn.Module):
    """By tensors and by numbers; what leaves a byte is lost."""

    def forward(self, n, m, k, b):
        return (
            torch.bitwise_left_shift(n, m),
            torch.bitwise_left_shift(k, 2),
            n << m,
            k << 3,
            b.bitwise_left_shift(5),
            (n - 5).bitwise_left_shift(m[0]),
        )


@case(inputs=[*INTEGERS, Input((3, 4), "uint8")])
class torch_bitwise_right_shift(nn.Module):
    """By tensors and by numbers; negative numbers keep their sign."""

    def forward(self, n, m, k, b):
        return (
            torch.bitwise_right_shift(n * 1000, m),
            torch.bitwise_right_shift(k, 2),
            n >> m,
            k >> 1,
            b.bitwise_right_shift(1),
            (n - 5).bitwise_right_shift(m[0]),
        )
