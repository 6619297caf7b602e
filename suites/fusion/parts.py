"""Tensors that are taken apart index by index, or slice by slice."""

import torch
import torch.nn as nn

from suites.case import case


@case(inputs=[(3, 4, 5), (2, 6, 4), (2, 3, 4)])
class pnnx_fuse_select_to_unbind(nn.Module):
    def forward(self, x, y, z):
        first = x[0] * x[1] - x[2]
        middle = x.select(1, 3) - x[:, -2] * x[:, 1] + x[:, -4]
        last = torch.stack([x[..., -1], x[..., 0], x[..., 2], x[..., 1], x[..., 3]], 1)
        query, key, value = y.reshape(2, 2, 3, 2, 2).permute(2, 0, 3, 1, 4)
        attended = (query @ key.transpose(-2, -1)) @ value
        left, right = z[0], z[1]
        read = y.reshape(3, 4, 4)
        return (
            first,
            middle,
            last,
            attended,
            (left, right),
            read[0] * read[1] - read[2] + read.sum(0),
            # An index is missing, or there twice; slices of what is selected; two dims at once.
            y[0] * 2,
            y[:, 0] + y[:, 1] - y[:, 1] * y[:, -2],
            y[1, :, 0] - y[0, :, 1],
            z[:, 0, ::2] * z[:, 1, ::2] - z[:, 2, ::2],
            z[:, :, 1] + z[:, :, -1] + z[:, :, 2],
        )


@case(inputs=[(1, 12, 5), (2, 4, 6, 8), (6,)])
class pnnx_fuse_slice_to_tensor_split(nn.Module):
    def forward(self, x, y, z):
        halves = torch.cat([-y[..., y.shape[-1] // 2 :], y[..., : y.shape[-1] // 2]], -1)
        gates = y[:, :, 0:1] * y[:, :, 1:3].mean(2, keepdim=True) - y[:, :, 3:6]
        w = x * 2
        twice = w[:, :4] * w[:, 4:8] - w[:, 8:] + (w[:, :6] * w[:, 6:])[:, :4]
        read = x - 1
        return (
            halves,
            gates,
            twice,
            x[:, :-4].max() * x[:, -4:],
            y.narrow(1, 0, 2) * y.narrow(1, 2, 2),
            z[3:] - z[:3],
            read[:, 6:12] * read[:, 0:6] + read[:, 3:9] + read.max(),
            # A gap, an overlap, a step, a part of another dim too.
            y[:, :1] * y[:, 1:2] + y[:, 3:],
            (x[:, :6] + 1) * x[:, 5:11],
            y[:, :, :6:2] * y[:, :, 1::2],
            y[:, :2, :2] * y[:, 2:, :2],
        )
