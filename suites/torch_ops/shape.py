"""Functions of torch that join, part and turn tensors.

ncnn has four dims at most, no integers that are data, and parts of equal size only.
"""

import torch
import torch.nn as nn

from suites.case import Input, case


@case(
    inputs=[
        *[(1, 3, 16), (1, 2, 16)],
        *[(1, 5, 9, 11), (1, 5, 9, 3), (1, 5, 9, 1)],
        (3,),
        Input((4,), "int64"),
    ],
    ncnn_inputs=[(1, 3, 16), (1, 2, 16), (1, 5, 9, 11), (1, 5, 9, 3), (1, 5, 9, 1), (3,)],
)
class torch_cat(nn.Module):
    """Along each dim, of several tensors, of one, and of two dtypes."""

    def forward(self, x, y, z, w, u, v, n=None):
        joined = (
            torch.cat((x, y), dim=1),
            torch.cat([x, y, x], -2),
            torch.cat((z, w, u), dim=3),
            torch.cat((z, z)),
            torch.cat((z, w[..., :1], u), dim=-1),
            torch.cat([v, v + 1]),
            torch.cat((x,), dim=2) + 1,
        )
        return joined if n is None else (*joined, torch.cat((v, n)))


@case(
    inputs=[(1, 3, 16), (1, 9, 10, 11), (14, 8, 5, 9, 10)],
    ncnn_inputs=[(1, 3, 16), (1, 9, 10, 11)],
)
class torch_chunk(nn.Module):
    """Even and uneven chunks, and fewer than were asked for."""

    def forward(self, x, y, z=None):
        x0, x1 = torch.chunk(x, chunks=2, dim=2)
        y0, y1, y2 = torch.chunk(y, 3, dim=1)
        if z is None:
            return x0 + x1, y0, y1, y2
        y3, y4, y5, y6 = y.chunk(4, -1)
        z0, z1, z2 = torch.chunk(z, chunks=4, dim=2)[:3]
        z3, z4 = z.chunk(2)
        return x0 + x1, y0, y1, y2, y3, y4, y5, y6, z0, z1, z2, z3, z4


@case(
    inputs=[(1, 3, 16), (1, 9, 10, 11), (14, 8, 5, 9, 10)],
    ncnn_inputs=[(1, 3, 16), (1, 9, 10, 11)],
)
class torch_split(nn.Module):
    """By one size, and by a list of sizes."""

    def forward(self, x, y, z=None):
        x0, x1, x2 = torch.split(x, split_size_or_sections=6, dim=2)
        y0, y1, y2 = torch.split(y, [2, 3, 4], dim=1)
        y3, y4 = y.split((7, 4), dim=-1)
        if z is None:
            return x0, x1, x2, y0, y1, y2, y3, y4
        z0, z1, z2 = torch.split(z, 2, 2)
        z3, z4 = z.split(7)
        return x0, x1, x2, y0, y1, y2, y3, y4, z0, z1, z2, z3, z4


@case(inputs=[(3, 16), (3, 16), (1, 5, 9), (1, 5, 9), (4,)], targets=("pnnx", "ncnn"))
class torch_stack(nn.Module):
    def forward(self, x, y, z, w, v):
        return (
            torch.stack((x, y)),
            torch.stack([x, y, x], dim=1),
            torch.stack((x, y), -1),
            torch.stack((z, w), dim=2),
            torch.stack((z, w), dim=-4),
            torch.stack((v, v * 2)),
        )


@case(
    inputs=[(1, 1, 16), (12, 1, 5, 1), (1, 1, 7, 1, 11)],
    ncnn_inputs=[(1, 1, 16), (12, 1, 5, 1)],
)
class torch_squeeze(nn.Module):
    """All dims of size 1, one of them, several, and one that is not of size 1."""

    def forward(self, x, y, z=None):
        squeezed = (
            torch.squeeze(x),
            torch.squeeze(x, 0),
            torch.squeeze(y, dim=1),
            y.squeeze(-1),
            torch.squeeze(y, 2) + 1,
        )
        if z is None:
            return squeezed
        return *squeezed, torch.squeeze(z, (0, 3)), torch.squeeze(z), z.squeeze(dim=-2)


@case(inputs=[(16,), (12, 5), (1, 5, 9, 11)], ncnn_inputs=[(16,), (12, 5)])
class torch_unsqueeze(nn.Module):
    def forward(self, x, y, z=None):
        unsqueezed = (
            torch.unsqueeze(x, 0),
            x.unsqueeze(-1),
            torch.unsqueeze(y, dim=1),
            y.unsqueeze(2),
        )
        if z is None:
            return unsqueezed
        return (
            *unsqueezed,
            torch.unsqueeze(z, -4),
            z[:, None] + z[..., None].permute(0, 4, 1, 2, 3),
        )


@case(inputs=[(3, 16), (1, 5, 9, 11), (14, 8, 5, 9, 10)], ncnn_inputs=[(3, 16), (1, 5, 9, 11)])
class torch_transpose(nn.Module):
    def forward(self, x, y, z=None):
        transposed = (
            torch.transpose(x, 1, 0),
            x.transpose(-1, -2),
            torch.transpose(y, dim0=2, dim1=3),
            y.transpose(1, -1),
        )
        if z is None:
            return transposed
        return *transposed, torch.transpose(z, -2, -1), z.swapaxes(0, 3)


@case(
    inputs=[(16,), (3, 16), (1, 5, 9, 11), (14, 8, 5, 9, 10)],
    ncnn_inputs=[(16,), (3, 16), (1, 5, 9, 11)],
)
class torch_flatten(nn.Module):
    def forward(self, x, y, z, w=None):
        flattened = (
            torch.flatten(x),
            torch.flatten(y),
            torch.flatten(z, 1),
            z.flatten(2, 3),
            torch.flatten(z, start_dim=-3, end_dim=-2),
        )
        if w is None:
            return flattened
        return *flattened, torch.flatten(w, start_dim=2), torch.flatten(w, 1, -2)


@case(inputs=[(3, 16), (1, 5, 9, 11), (4, 1, 3)], targets=("pnnx", "ncnn"))
class torch_unbind(nn.Module):
    def forward(self, x, y, z):
        x0, x1, x2 = torch.unbind(x)
        y0, y1, y2, y3, y4 = torch.unbind(y, dim=1)
        z0, z1, z2 = z.unbind(-1)
        return x0, x1, x2, y0, y1, y2, y3, y4, z0, z1 + z2


@case(inputs=[(16,), (3, 16), (1, 5, 9, 11)], targets=("pnnx", "ncnn"))
class torch_flip(nn.Module):
    def forward(self, x, y, z):
        return (
            torch.flip(x, [0]),
            torch.flip(y, (1,)),
            y.flip(0, -1),
            torch.flip(z, dims=[-1]),
            torch.flip(z, [1, 3]),
            z.flip([0, 2, -1]),
        )


@case(inputs=[(3, 16), (1, 5, 9, 11), (16,)], ncnn_inputs=[(3, 16), (1, 5, 9, 11)])
class torch_roll(nn.Module):
    """Along dims, and of the flattened tensor where none is given."""

    def forward(self, y, z, x=None):
        rolled = (
            torch.roll(y, shifts=1, dims=1),
            y.roll((-1, 4), (0, 1)),
            torch.roll(z, (2, -3), dims=(-1, 2)),
            torch.roll(z, 1, -3),
        )
        if x is None:
            return rolled
        return *rolled, torch.roll(x, 3), torch.roll(y, shifts=-2)
