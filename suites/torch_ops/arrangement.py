"""Functions of torch that repeat, part and turn tensors, and what reads along their dims.

ncnn has four dims at most, and parts of equal size only.
"""

import torch
import torch.nn as nn

from suites.case import Input, case


@case(
    inputs=[(3,), (3, 4), (1, 3, 4, 5)],
)
class torch_tile(nn.Module):
    """More repeats than dims, and fewer."""

    def forward(self, x, y, z):
        return (
            torch.tile(x, (4,)),
            torch.tile(x, (3, 2)),
            torch.tile(y, dims=(1, 4)),
            y.tile(2),
            y.tile((2, 1, 3)),
            torch.tile(z, (1, 2, 1, 3)),
            torch.tile(z, (2,)),
        )


@case(inputs=[(3,), (3, 4), (1, 3, 4, 5), Input((3,), "int64")])
class torch_repeat_interleave(nn.Module):
    """Of all elements and along dims; by one number and by one for each place."""

    def __init__(self):
        super().__init__()
        self.register_buffer("repeats", torch.tensor([2, 0, 3]))

    def forward(self, x, y, z, n):
        return (
            torch.repeat_interleave(x, 3),
            torch.repeat_interleave(y, 2),
            torch.repeat_interleave(y, repeats=2, dim=1),
            y.repeat_interleave(3, -2),
            torch.repeat_interleave(z, 2, dim=2),
            z.repeat_interleave(4, 0),
            torch.repeat_interleave(y, self.repeats, dim=0, output_size=5),
            n.repeat_interleave(2),
        )


@case(
    inputs=[(1, 3, 16), (1, 9, 10, 11), (14, 8, 5, 9, 10)],
    ncnn_inputs=[(1, 3, 16), (1, 9, 10, 11)],
)
class torch_tensor_split(nn.Module):
    """Into parts that may be one longer than others, and before given places."""

    def forward(self, x, y, z=None):
        x0, x1 = torch.tensor_split(x, 2, dim=2)
        y0, y1, y2 = torch.tensor_split(y, (3, 5), 1)
        y3, y4 = y.tensor_split([4], dim=-1)
        if z is None:
            return x0 + x1, y0, y1, y2, y3, y4
        z0, z1, z2 = torch.tensor_split(z, 3, dim=3)
        z3, z4, z5 = torch.tensor_split(z, indices=(2, 7), dim=4)
        z6, z7, z8 = z.tensor_split(3)
        return x0 + x1, y0, y1, y2, y3, y4, z0, z1, z2, z3, z4, z5, z6, z7, z8


@case(inputs=[(16,), (3, 16), Input((4, 5), "int64")], ncnn_inputs=[(16,), (3, 16)])
class torch_t(nn.Module):
    """A matrix turned; of fewer dims it is the tensor itself."""

    def forward(self, x, y, n=None):
        turned = torch.t(x) * 2, torch.t(y), y.t() + 1, (y * 2).t()
        return turned if n is None else (*turned, n.t())


@case(inputs=[(6,), (4, 5), (5, 5), Input((3,), "int64")], ncnn_inputs=[(6,)])
class torch_diag(nn.Module):
    """From a vector to a matrix and back, on and beside the diagonal."""

    def forward(self, x, y=None, z=None, n=None):
        made = torch.diag(x), torch.diag(x, 2), x.diag(-1)
        if y is None:
            return made
        return (
            *made,
            torch.diag(y),
            torch.diag(y, diagonal=1),
            z.diag(-2),
            torch.diag(n),
        )


@case(inputs=[(4, 3), (4, 3), (3, 5), (3, 5), (2, 3, 4), (2, 3, 1)])
class torch_cross(nn.Module):
    """Along the last dim, a given one, and the first of three places."""

    def forward(self, y, z, u, v, a, b):
        return (
            torch.cross(y, z, dim=1),
            torch.cross(u, v, dim=0),
            torch.cross(u, v),
            y.cross(z, -1),
            torch.cross(a, b.expand(2, 3, 4), dim=-2),
        )


@case(inputs=[(3, 16), (16,), (5, 3), Input((3, 4), "float64"), Input((4,), "float64")])
class torch_mv(nn.Module):
    """A matrix and a vector, both computed or stored."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(7, 16))
        self.register_buffer("direction", torch.rand(3))

    def forward(self, x, y, z, a, b):
        return (
            torch.mv(x, y),
            torch.mv(z, vec=torch.mv(x, y)),
            self.weight.mv(y),
            torch.mv(z, self.direction),
            a.mv(b),
            x @ y,
        )
