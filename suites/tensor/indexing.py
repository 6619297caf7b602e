"""Reading and writing by indices and slices. Integers are drawn from 0 to 9: dims have ten places.

ncnn has four dims at most, and takes no indices from tensors.
"""

import torch
import torch.nn as nn

from suites.case import Input, case


@case(
    inputs=[
        *[(10, 16), (10, 5, 10, 11)],
        *[Input((4,), "int64"), Input((2, 3), "int64"), Input((3,), "int64")],
    ],
    proves=("torch.Tensor.__getitem__",),
)
class Tensor_index(nn.Module):
    """By one tensor and several, at each place, beside slices and Nones, and by a mask."""

    def __init__(self):
        super().__init__()
        self.register_buffer("places", torch.tensor([3, 0, -1]))

    def forward(self, x, y, i, j, k):
        return (
            x[i],
            x[j],
            x[:, i],
            x[k, self.places],
            y[j, :, k],
            y[:, :, i],
            y[..., i],
            y[self.places],
            x[[2, 0, 5]],
            x[:, None][i],
            y[:, 1:3][i],
            x[i, 2],
            x[i[:, None], k],
        )


@case(
    inputs=[
        *[(10, 16), (10, 5, 10, 11), (4, 16), (16,), (3,)],
        *[Input((4,), "int64"), Input((2, 3), "int64"), Input((3,), "int64")],
    ]
)
class Tensor_index_put(nn.Module):
    """Rows, places and masks; of values, broadcast values and numbers; set and added.

    Places may repeat, so that what is set is the same for all of them.
    """

    def forward(self, x, y, rows, row, cells, i, j, k):
        assigned = x.clone()
        assigned[k] = row
        masked = x.clone()
        masked[x > 0.5] = 0
        return (
            x.index_put((i,), row),
            x.index_put((i,), rows, accumulate=True),
            torch.index_put(x, (k, k), cells[:1]),
            x.clone().index_put_((j,), row, accumulate=True),
            y.index_put((k, k // 2), cells[0], False),
            assigned,
            masked,
        )


@case(
    inputs=[(12, 26), (1, 15, 19, 21), (14, 8, 5, 9, 10)],
    ncnn_inputs=[(12, 26), (1, 15, 19, 21)],
    proves=("torch.Tensor.__setitem__",),
)
class Tensor_slice_copy(nn.Module):
    """Parts that are written to, while the original stays."""

    def forward(self, x, y, z=None):
        a = x.clone()
        a[:, 1:14] = x[:, 3:16] * 10
        b = y.clone()
        b[:, 3:9, :, 5:-2] = y[:, 4:10, :, 5:-2] - 1
        if z is None:
            return a, b
        b[..., -1:] = 2
        a[::3, 2] = -1
        c = z.clone()
        c[:, 2] = z[:, 3] + 1
        c[3:, :, 1:-1, ::2] += 2
        return a, b, c
