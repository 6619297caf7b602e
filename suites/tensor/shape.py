"""Methods of tensors that give another shape or another part.

ncnn has four dims at most: its target leaves the fifth out, and what else its layers lack.
"""

import torch.nn as nn

from suites.case import case


@case(
    inputs=[(3,), (3, 1, 1), (1, 8, 1, 16), (2, 8, 5, 16)],
    ncnn_inputs=[(3,), (3, 1, 1), (1, 8, 1, 16)],
)
class Tensor_expand(nn.Module):
    def forward(self, x, y, z, w=None):
        expanded = (
            x.expand(3),
            x.expand(2, 3),
            x.expand(5, 2, -1),
            y.expand(3, 4, 5),
            y.expand(-1, 7, -1),
            z.expand(-1, -1, 24, -1),
            z.expand(2, 8, 3, 16),
        )
        if w is None:
            return expanded
        return *expanded, y.expand([2, 3, 7, 16]), z.expand_as(w) + 1


@case(inputs=[(3, 16), (1, 5, 9, 11), (14, 8, 5, 9, 10)], ncnn_inputs=[(3, 16), (1, 5, 9, 11)])
class Tensor_permute(nn.Module):
    def forward(self, x, y, z=None):
        permuted = (
            x.permute(1, 0),
            x.permute(0, 1),
            y.permute(0, 2, 3, 1),
            y.permute(-1, -2, -3, 0),
            y.permute([0, 3, 1, 2]),
        )
        if z is None:
            return permuted
        return *permuted, z.permute(4, 1, 0, 3, 2), z.permute((0, -1, 2, 3, 1))


@case(inputs=[(3,), (3, 4), (1, 3, 4, 5)], targets=("pnnx", "ncnn"))
class Tensor_repeat(nn.Module):
    def forward(self, x, y, z):
        return (
            x.repeat(4),
            x.repeat(3, 2),
            x.repeat(2, 1, 5),
            y.repeat(1, 4),
            y.repeat([3, 1]),
            y.repeat(2, 1, 3),
            z.repeat(1, 1, 2, 1),
            z.repeat(2, 3, 1, 2),
        )


@case(
    inputs=[(1, 3, 16), (1, 5, 9, 11), (14, 8, 5, 9, 10)],
    ncnn_inputs=[(1, 3, 16), (1, 5, 9, 11)],
)
class Tensor_reshape(nn.Module):
    """Explicit sizes, one to infer, and sizes taken from another tensor."""

    def forward(self, x, y, z=None):
        reshaped = (
            x.reshape(1, 48),
            x.reshape(-1),
            x.reshape(1, 3, 4, 4),
            y.reshape(1, 99, -1),
            y.reshape(5, 9, 11),
            y.permute(0, 2, 3, 1).reshape(1, 99, 5),
        )
        if z is None:
            return reshaped
        return (
            *reshaped,
            z.reshape([14, 40, 9, 10]),
            z.reshape(z.size(0), -1),
            z.reshape(*z.shape[:2], 45, -1),
        )


@case(inputs=[(1, 3, 16), (6, 2, 2, 2), (2, 3, 4), (2, 3, 4)], targets=("pnnx", "ncnn"))
class Tensor_reshape_as(nn.Module):
    def forward(self, x, y, z, w):
        return x.reshape_as(y), y.reshape_as(x) + x, z.permute(2, 0, 1).reshape_as(w)


@case(inputs=[(3, 16), (1, 5, 9, 11), (14, 8, 5, 9, 10)], ncnn_inputs=[(3, 16), (1, 5, 9, 11)])
class Tensor_select(nn.Module):
    """By method and by subscript, from the front and from the back."""

    def forward(self, x, y, z=None):
        selected = (
            x.select(0, 1),
            x.select(dim=-1, index=-2),
            x[2],
            y.select(1, 3),
            y[:, :, 4],
            y[..., -1],
        )
        if z is None:
            return selected
        return (
            *selected,
            y[0, :, 4],
            z.select(-2, 8),
            z[:, :, 2, :, -3],
            z[1, 2],
        )


@case(
    inputs=[(1, 13, 26), (1, 15, 19, 21), (14, 8, 5, 9, 10)],
    ncnn_inputs=[(1, 13, 26), (1, 15, 19, 21)],
    proves=("torch.Tensor.__getitem__",),
)
class Tensor_slice(nn.Module):
    """Starts, ends and steps, negative and beyond the end; the last dims by an ellipsis."""

    def forward(self, x, y, z=None):
        sliced = (
            x[:, :12, 1:14],
            x[..., 1:],
            x[:, -5:, :-3],
            x[:, 2:100],
            y[:, 0:, 1:7, 5:],
            y[:, :, :, :-1],
        )
        if z is None:
            return sliced
        return (
            *sliced,
            x[:, :12, 1:14:2],
            y[0:1, 3::3, ::2, -8:-2],
            z[:12, 1:, ..., 2:8],
            z[::3, :, 1:-1, 3:7:3],
        )


@case(
    inputs=[(1, 3, 16), (1, 5, 9, 11), (14, 8, 5, 9, 10)],
    ncnn_inputs=[(1, 3, 16), (1, 5, 9, 11)],
)
class Tensor_view(nn.Module):
    def forward(self, x, y, z=None):
        viewed = (
            x.view(1, 48),
            x.view(-1),
            x.view(1, 3, 4, 4),
            y.view(1, 99, -1),
            y.view(y.size(0), 5, -1),
            y.contiguous().view(5, 9, 11),
        )
        if z is None:
            return viewed
        return (
            *viewed,
            z.view([14, 40, 9, 10]),
            z.view(z.size(0), -1),
            z.permute(0, 2, 1, 3, 4).contiguous().view(14, 5, -1),
        )


@case(inputs=[(12,), (3, 12), (1, 24, 6, 10)], ncnn_inputs=[(12,), (3, 12)])
class Tensor_unflatten(nn.Module):
    def forward(self, x, y, z=None):
        unflattened = (
            x.unflatten(0, (3, 4)),
            y.unflatten(1, (2, -1)),
            y.unflatten(dim=-1, sizes=(2, 3, 2)),
        )
        if z is None:
            return unflattened
        return *unflattened, z.unflatten(1, (4, 6)), z.unflatten(-1, (5, 2))
