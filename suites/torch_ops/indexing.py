"""Functions that read and write parts of tensors. Integers are drawn from 0 to 9."""

import torch
import torch.nn as nn

from suites.case import Input, case


@case(inputs=[(10, 16), (1, 10, 9, 11), Input((4,), "int64"), Input((7,), "int32")])
class torch_index_select(nn.Module):
    """Along each dim, with places that repeat, and with stored ones."""

    def __init__(self):
        super().__init__()
        self.register_buffer("places", torch.tensor([2, 0, 2]))

    def forward(self, x, y, i, j):
        return (
            torch.index_select(x, 0, i),
            torch.index_select(x, dim=1, index=j),
            y.index_select(1, j),
            torch.index_select(y, -1, i),
            torch.index_select(y, 2, self.places),
        )


@case(inputs=[(3, 16), (1, 5, 9, 11), (11,), Input((3, 16), "int64")])
class torch_masked_select(nn.Module):
    """As many as a mask holds, which the program cannot know."""

    def forward(self, x, y, z, n):
        return (
            torch.masked_select(x, x > 0.5),
            torch.masked_select(y, mask=z < 0.4),
            x.masked_select(n == 3),
            torch.masked_select(n, x > 0.7),
        )


@case(
    inputs=[
        *[(10, 16), (3, 16), (10, 5, 11), (2, 5, 4)],
        *[Input((3, 16), "int64"), Input((2, 5, 4), "int64"), Input((10, 4), "int64")],
    ]
)
class torch_scatter_add(nn.Module):
    """Along each dim, of all of the source and of a part, of floats and integers."""

    def forward(self, x, s, y, t, i, j, n):
        return (
            torch.scatter_add(x, 0, i, s),
            torch.scatter_add(x, dim=1, index=i, src=s),
            y.scatter_add(-1, j, t),
            y.clone().scatter_add_(0, j, t),
            torch.scatter_add(x, -1, i[:, :5], s),
            torch.scatter_add(n, 0, n[:2], n),
        )


@case(
    inputs=[(8, 16), (8, 6), (2, 16), (1, 5, 9, 11), (1, 5, 3, 11), (1, 5, 9, 4)],
    ncnn_inputs=[(8, 16), (8, 6), (2, 16), (1, 5, 9, 11), (1, 5, 3, 11)],
)
class torch_slice_scatter(nn.Module):
    """Along each dim, from the front and the back, with steps, and to the end."""

    def forward(self, x, columns, rows, y, u, v=None):
        scattered = (
            torch.slice_scatter(x, columns, 1, 2, 8),
            torch.slice_scatter(x, rows, start=6),
            torch.slice_scatter(y, u, dim=2, start=6),
        )
        if v is None:
            return scattered
        return (
            *scattered,
            x.slice_scatter(rows, dim=0, start=1, end=7, step=3),
            torch.slice_scatter(y, u, dim=2, start=-3),
            torch.slice_scatter(y, v, dim=-1, start=1, end=9, step=2),
            torch.slice_scatter(x, x * 2),
        )


@case(inputs=[(3, 16), (1, 5, 9, 11), (14, 8, 5, 9, 10)])
class torch_narrow(nn.Module):
    def forward(self, x, y, z):
        return (
            torch.narrow(x, 1, 2, 5),
            torch.narrow(x, dim=0, start=-2, length=1),
            y.narrow(-1, 0, 11),
            torch.narrow(y, 2, 3, 4) * 2,
            z.narrow(-2, -3, 2),
            torch.narrow(z, 0, 13, 1),
        )
