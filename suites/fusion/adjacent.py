"""Neighbours that only move elements, joined where nobody else reads in between."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from suites.case import case


@case(inputs=[(2, 3, 4, 5), (3, 4), (2, 3, 4, 5, 2)])
class pnnx_fuse_adjacent_permute(nn.Module):
    def forward(self, x, y, z):
        back = F.relu(x.permute(0, 2, 3, 1).permute(0, 3, 1, 2))
        x = F.leaky_relu(x.permute(0, 2, 3, 1).permute(3, 1, 2, 0))
        x = F.relu6(x.transpose(1, 2).transpose(2, 3))
        x = F.hardtanh(x.transpose(0, -1).transpose(-1, 0))
        x = F.relu(x.permute(0, 2, 3, 1).permute(3, 1, 2, 0).permute(1, 0, 2, 3).transpose(0, 1))
        x = F.leaky_relu(x.permute((0, 2, 1, 3)).transpose(-1, 2).contiguous().permute(3, 0, 2, 1))
        read = x.permute(0, 2, 3, 1)
        twice = x.transpose(0, 1)
        return (
            back,
            read.permute(0, 3, 1, 2) - read.permute(3, 0, 1, 2).max(),
            F.relu(twice.permute(3, 2, 1, 0)) + twice.min(),
            x.permute(1, 0, 2, 3).reshape(x.size(0), -1).permute(1, 0),
            x.permute(3, 2, 1, 0).relu().permute(3, 2, 1, 0),
            y.t().t() * 2,
            y.t().transpose(0, 1).permute(1, 0) * 2,
            z.permute(4, 3, 2, 1, 0).transpose(1, 3).permute(0, 2, 1, 4, 3),
            torch.swapaxes(z, 1, 2).swapdims(2, 3) * 2,
        )


@case(inputs=[(2, 3, 4, 5), (2, 1, 6, 1), (4, 30)])
class pnnx_fuse_adjacent_reshape(nn.Module):
    def forward(self, x, y, z):
        same = F.relu(x.reshape(8, 15).reshape(x.shape))
        flat = F.leaky_relu(x.flatten(1, 2).view(2, 3, 4, 5))
        x = F.relu6(x.view(6, -1).view(2, -1).reshape(-1, 10))
        x = F.hardtanh(x.unsqueeze(0).view(4, 30).unsqueeze(-1))
        x = F.relu(x.reshape(120).squeeze().unsqueeze(1).unsqueeze(1).unsqueeze(-1))
        y = F.leaky_relu(y.squeeze(1).reshape(3, 4).unsqueeze(1))
        y = F.relu6(y[None].squeeze().reshape(2, 6, 1).squeeze(-1))
        y = F.relu(y.unsqueeze(0).squeeze(0))
        read = x.reshape(6, 20)
        twice = x.view(5, 24)
        return (
            same,
            flat,
            x,
            y,
            read.reshape(2, 60) - read.sum(),
            twice.reshape(2, 60) * twice.view(60, 2).t(),
            x.reshape(4, 30).t().reshape(20, 6),
            x.reshape(4, 30).relu().reshape(20, 6),
            torch.flatten(x.reshape(6, 4, 5), 1) * 2,
            x.reshape(6, 20).contiguous().view(2, 60) * 2,
            x.reshape(5, 24).reshape_as(z) * 2,
            x.sum().reshape(1).reshape(1, 1) * 2,
        )
