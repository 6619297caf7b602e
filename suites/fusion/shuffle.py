"""Shuffles of channels and pixels as models spell them, and other shuffles of the same shapes."""

import torch
import torch.nn as nn

from suites.case import case


def channel_shuffle(x, groups):
    """As in ShuffleNet."""
    batch, channels, height, width = x.size()
    x = x.view(batch, groups, channels // groups, height, width)
    return torch.transpose(x, 1, 2).contiguous().view(batch, -1, height, width)


@case(inputs=[(1, 12, 4, 5), (2, 12, 3, 4, 3), (2, 12, 9)])
class pnnx_fuse_channel_shuffle(nn.Module):
    def forward(self, x, y, z):
        x = channel_shuffle(x, 3) * 2
        x = channel_shuffle(channel_shuffle(x + 1, 2) * 3, 6)
        w = x.reshape(1, 4, 3, 4, 5).permute(0, 2, 1, 3, 4).reshape(1, 12, 4, 5)
        split = w.view(1, 6, 2, 4, 5)
        halves = torch.chunk(channel_shuffle(w, 2), 2, dim=1)
        return (
            x,
            halves[0] * halves[1],
            y.reshape(2, 4, 3, 3, 4, 3).transpose(1, 2).reshape(2, 12, 3, 4, 3),
            z.view(2, 3, 4, 9).transpose(1, 2).reshape(2, 12, 9),
            split.transpose(1, 2).reshape(1, 12, 4, 5) - split.mean(2).sum(),
            w.view(1, 3, 4, 4, 5).transpose(-4, -3).flatten(1, 2),
            w.view(1, 3, 4, 4, 5).transpose(1, 2).reshape(1, 12, 20),
            w.view(1, 3, 4, 4, 5).transpose(2, 3).reshape(1, 12, 4, 5),
            w.view(3, 4, 4, 5).transpose(0, 1).reshape(1, 12, 4, 5),
            w.view(1, 3, 4, 20).transpose(1, 2).reshape(1, 12, 4, 5),
            y.reshape(2, 3, 4, 3, 4, 3).permute(0, 2, 1, 3, 5, 4).reshape(2, 12, 3, 3, 4),
        )


@case(inputs=[(1, 36, 4, 6), (12, 4, 6)])
class pnnx_fuse_pixel_shuffle(nn.Module):
    """Also with the channels inside of a block first, as depth-to-space has it, which is another.

    Blocks that are not square have none either.
    """

    def forward(self, x, y):
        x = x.view(1, 4, 3, 3, 4, 6).permute(0, 1, 4, 2, 5, 3).contiguous().view(1, 4, 12, 18)
        x = x * 2
        z = x.reshape(1, 1, 2, 2, 12, 18).permute(0, 1, 4, 2, 5, 3).reshape(1, 1, 24, 36)
        split = x.reshape(1, 1, 2, 2, 12, 18)
        batches = torch.cat([x, x + 1]).reshape(2, 1, 2, 2, 12, 18)
        return (
            x,
            z,
            batches.permute(0, 1, 4, 2, 5, 3).reshape(2, 1, 24, 36),
            split.permute(0, 1, 4, 2, 5, 3).reshape(1, 1, 24, 36) - split.mean(),
            x.reshape(1, 2, 2, 1, 12, 18).permute(0, 3, 4, 1, 5, 2).reshape(1, 1, 24, 36),
            x.reshape(1, 1, 2, 2, 12, 18).permute(0, 1, 4, 3, 5, 2).reshape(1, 1, 24, 36),
            x.reshape(1, 1, 1, 4, 12, 18).permute(0, 1, 4, 2, 5, 3).reshape(1, 1, 12, 72),
            x.reshape(1, 1, 2, 2, 12, 18).permute(0, 1, 4, 2, 5, 3).reshape(24, 36),
            x.reshape(1, 4, 4, 3, 6, 3).permute(0, 1, 2, 4, 3, 5).reshape(1, 4, 12, 18),
            y.reshape(3, 2, 2, 4, 6).permute(0, 3, 1, 4, 2).reshape(3, 8, 12),
        )


@case(inputs=[(1, 2, 12, 18), (3, 4, 6)])
class pnnx_fuse_pixel_unshuffle(nn.Module):
    """Also patches, whose place comes before their pixels, and slices with a step."""

    def forward(self, x, y):
        x = x.view(1, 2, 6, 2, 9, 2).permute(0, 1, 3, 5, 2, 4).contiguous().view(1, 8, 6, 9)
        x = x * 2
        z = x.reshape(1, 8, 2, 3, 3, 3).permute(0, 1, 3, 5, 2, 4).reshape(1, 72, 2, 3)
        split = x.reshape(1, 8, 2, 3, 3, 3)
        batches = torch.cat([x, x + 1]).reshape(2, 8, 2, 3, 3, 3)
        return (
            x,
            z,
            batches.permute(0, 1, 3, 5, 2, 4).reshape(2, 72, 2, 3),
            split.permute(0, 1, 3, 5, 2, 4).reshape(1, 72, 2, 3) - split.mean(),
            x.reshape(1, 8, 2, 3, 3, 3).permute(0, 3, 5, 1, 2, 4).reshape(1, 72, 2, 3),
            x.reshape(1, 8, 2, 3, 3, 3).permute(0, 1, 5, 3, 2, 4).reshape(1, 72, 2, 3),
            x.reshape(1, 8, 3, 2, 3, 3).permute(0, 1, 3, 5, 2, 4).reshape(1, 48, 3, 3),
            x.reshape(1, 8, 2, 3, 3, 3).permute(0, 2, 4, 1, 3, 5).reshape(1, 6, 72),
            torch.cat([x[..., row::3, column::3] for row in range(3) for column in range(3)], 1),
            y.reshape(3, 2, 2, 3, 2).permute(0, 2, 4, 1, 3).reshape(12, 2, 3),
        )
