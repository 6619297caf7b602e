"""Methods of tensors that give other values or another dtype."""

import torch
import torch.nn as nn

from suites.case import Input, case


@case(inputs=[(3, 16), (1, 5, 9, 11), Input((2, 7), "int64")])
class Tensor_to(nn.Module):
    """To a dtype by name, by keyword and as another tensor's, and back."""

    def forward(self, x, y, z):
        return (
            x.to(torch.float64),
            (x * 10).to(dtype=torch.int32),
            x.to(z.dtype),
            y.to(torch.float64).mean().to(torch.float32),
            (y * 255).to(torch.uint8),
            y.to("cpu", torch.float64),
            z.to(torch.float32) / 3,
            z.float() * 0.5,
            (z - 5).to(torch.bool),
        )


@case(inputs=[(3, 16), Input((3, 16), "int32"), Input((2, 5), "float64")])
class Tensor_type_as(nn.Module):
    def forward(self, x, y, z):
        return (x * 10).type_as(y), y.type_as(x) + 0.5, x.type_as(z), z.type_as(y)


@case(inputs=[(3, 16), (1, 5, 9, 11), (5, 1, 11), Input((3, 16), "int64")])
class Tensor_masked_fill(nn.Module):
    """Masks of the same shape and ones that are broadcast; a value that is a tensor."""

    def forward(self, x, y, mask, z):
        return (
            x.masked_fill(x > 0.5, 2),
            x.masked_fill(z == 3, float("-inf")),
            y.masked_fill(mask < 0.3, -1.5),
            y.masked_fill(y > 0.9, x[0, 0]),
            z.masked_fill(x > 0.5, 7),
        )


@case(inputs=[(3, 16), Input((2, 4), "int64")])
class Tensor_new_zeros(nn.Module):
    def forward(self, x, y):
        return (
            x.new_zeros((2, 3)) + x[:2, :3],
            x.new_zeros(4, 5, dtype=torch.int64),
            y.new_zeros([3]),
            y.new_zeros(x.shape) + x,
        )


@case(inputs=[(3, 16), Input((2, 4), "int64")])
class Tensor_new_ones(nn.Module):
    def forward(self, x, y):
        return (
            x.new_ones((2, 3)) + x[:2, :3],
            x.new_ones(4, 5, dtype=torch.int64),
            y.new_ones([3]),
            y.new_ones(x.shape) + x,
        )


@case(inputs=[(3, 16), Input((2, 4), "int64")])
class Tensor_new_full(nn.Module):
    def forward(self, x, y):
        return (
            x.new_full((2, 3), 0.5) + x[:2, :3],
            x.new_full((4, 5), 3, dtype=torch.int64),
            y.new_full([3], fill_value=-7),
            y.new_full(x.shape, 2) + x,
        )


@case(inputs=[(3, 16), Input((2, 4), "int64")])
class Tensor_new_empty(nn.Module):
    """What it holds is not defined, so that only its shape and dtype reach the results."""

    def forward(self, x, y):
        return (
            torch.zeros_like(x.new_empty((2, 3))),
            torch.ones_like(x.new_empty(4, 5, dtype=torch.int64)),
            y.new_empty([3]).fill_(2),
            x.new_empty((0, 4)),
        )


@case(inputs=[(3, 16), (1, 5, 9, 11), Input((2, 7), "int64")], proves=("torch.Tensor.fill_",))
class Tensor_fill(nn.Module):
    """Of all of a tensor and of a part, with a number and with a tensor of one."""

    def forward(self, x, y, z):
        part = y.clone()
        part[:, 1:3].fill_(-1.5)
        return (
            x.clone().fill_(2) + x,
            part,
            x.clone().fill_(y[0, 0, 0, 0]),
            z.clone().fill_(7),
        )
