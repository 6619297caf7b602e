"""Element-wise arithmetic that is joined into expressions, and what the model knows in advance."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F

from suites.case import Input, case

UNARY = (
    *(torch.abs, torch.ceil, torch.floor, torch.round, torch.trunc, torch.sign, torch.neg),
    *(torch.exp, torch.log, torch.log10, torch.sqrt, torch.rsqrt, torch.square, torch.reciprocal),
    *(torch.sin, torch.cos, torch.tan, torch.asin, torch.acos, torch.atan),
    *(torch.sinh, torch.cosh, torch.tanh, torch.asinh, torch.erf, torch.sigmoid),
)


@case(
    inputs=[
        (3, 4, 5),
        (4, 1),
        (5,),
        Input((3, 4), "int64"),
        Input((3, 4), "int32"),
        Input((3, 4), "bfloat16"),
        Input((3, 4), "complex64"),
        Input((3, 4), "float64"),
    ]
)
class pnnx_expression(nn.Module):
    """Functions of one and two tensors, numbers on either side, sizes, every kind of number."""

    def forward(self, x, y, z, i, j, h, c, d):
        return (
            self.unary(x),
            self.binary(x, y, z),
            self.scalars(x),
            self.sizes(x, i),
            self.sharing(x, y),
            self.dtypes(i, j, h, c, d),
        )

    def unary(self, x):
        x = x * 0.5 + 0.25
        chained = [function(function(x) * 0.25 + 0.5) - x for function in UNARY]
        return (*chained, torch.acosh(x + 1), torch.atanh(x / 2), -(x - 1) * 2, abs(x - 0.5) + 1)

    def binary(self, x, y, z):
        return (
            (x + y) * (x - z) / (y + 1),
            torch.add(x, y, alpha=2) - torch.sub(z, y, alpha=0.5) * torch.mul(x, z),
            torch.div(x * 2, y + 1) - torch.rsub(x, y),
            torch.pow(x + 1, z) + (y + 1) ** x,
            torch.atan2(x - 0.5, y - 0.5) * 2,
            torch.maximum(x, y) + torch.min(x * 2, z) - torch.minimum(y, z) * torch.max(x, y),
            torch.fmod(x * 9, y + 1) + torch.remainder(x * 9 - 4, z + 1),
            torch.floor_divide(x * 9 - 4, y + 0.5) * 2 + (x * 9 - 4) // (z + 1) - (x * 9) % (y + 1),
            torch.logaddexp(x, y) * 2,
        )

    def scalars(self, x):
        return (
            2 + x * 3 - 4,
            2 - x / 3,
            2 / (x + 1) * 1e-5,
            2**x + (x + 1) ** 2 - (x + 1) ** -0.5 + x**0.5,
            (x * 9 - 4) // 2 + (x * 9) % 2 + torch.fmod(x * 9 - 4, 2),
            torch.pow(2, x) - torch.rsub(x, 2) + torch.true_divide(x, 3),
            x.add(1).mul(2).sub(3).div(4).pow(2).neg() * 1e10,
            torch.clamp(x * 2, 0.1, 1.2) * 3 + torch.clamp(x, max=0.5) * 2,
            ((((((x + 1) * 2 - 3) / 4 + 5) * 6 - 7) / 8 + 9) * 10 - 11) / 12 + 13,
        )

    def sizes(self, x, i):
        return (
            x * x.size(0) + x.shape[1] * 2,
            x / x.size(-1) ** 0.5 - float(x.size(1)) / 3,
            x * i.shape[0] / math.sqrt(x.shape[0]) + x.dim(),
            x.reshape(x.size(0) * x.size(1), -1) * (x.shape[2] // 2),
            x[:, : i.size(0) // 2 + 1, x.size(2) - 2 :] * 2,
            x.view(x.size(0), int(x.size(1) / 2), -1) + max(x.size(0), 4) % 3,
        )

    def sharing(self, x, y):
        """What is read twice stays apart, and what is written to."""
        once = x * 2 + y
        twice = (x - y) * 3
        written = x * 1.5
        written.add_(1)
        written.mul_(2).sub_(3)
        return (
            once * 3 - 1,
            (twice + 1) / (twice + 2),
            F.relu(twice) + twice,
            (x + 1).exp() + (x + 1).exp(),
            written + x,
            F.relu(x - 0.5) * 2 + F.silu(x) * x - x * F.softmax(x * 2, -1),
            torch.where(x > y, x + 1, y * 2) - 1,
            (x <= y).float() * 2 - (x > 0.5) * x,
        )

    def dtypes(self, i, j, h, c, d):
        return (
            i + j * 2 - i // 3 * (i % 3),
            -i * 2 + abs(i - 5) ** 2,
            i / 2 + 1,
            i * 1.5 - j,
            (i & 3 | j) ^ (i << 1) ^ (i >> 1),
            torch.maximum(i, j) * 2 - torch.sign(i - 5),
            j - j // 3 + 1,
            (h + 1) / 3 - 0.1 + h.exp() * h,
            (h * 3) ** 2 * d,
            c * 2j + c / (c + 1) - c.abs() * 3,
            torch.real(c) * 2 + torch.imag(c),
            d / 3 + d * h - 0.1,
        )
