"""What depends on nothing but the model is worked out when it is converted."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from suites.case import case


@case(inputs=[(3, 4, 5), (1, 3, 6, 5)])
class pnnx_fold_constant(nn.Module):
    """Weights, buffers and made tensors; masks and tables of positions; what reads the input stays.

    Only what every kernel computes to the same bits: pnnx has a PyTorch of its own.
    """

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(4, 5))
        self.scale = nn.Parameter(torch.rand(3, 1, 5))
        self.register_buffer("index", torch.tensor([2, 0, 3, 1]))
        self.register_buffer("middle", torch.tensor(0.5))
        self.register_buffer("mask", torch.rand(4, 5) > 0.5)

    def forward(self, x, y):
        return (
            self.weights(x),
            self.moved(x),
            self.made(x),
            self.positions(x),
            self.masks(x),
            self.layers(x, y),
        )

    def weights(self, x):
        weight = self.weight * 2 + 1
        scale = self.scale.permute(2, 1, 0).reshape(5, 3).t()[:1]
        return x * weight - scale / 4, x + (self.weight - 0.5).abs() * -0.25 + self.middle

    def moved(self, x):
        weight = self.weight
        cut = torch.cat([weight[2:], weight[:2]], 0)
        upper, lower = torch.chunk(weight, 2)
        first, last = torch.split(cut, [1, 3])
        return (
            x * weight[self.index] + torch.index_select(weight / 4, 0, self.index[:1]),
            x
            + weight.expand(3, 4, 5)
            + self.scale.expand(-1, 4, -1)
            + weight[:, :1].repeat(3, 1, 5),
            x * cut.flip(0) - torch.stack([cut] * 3),
            x + torch.roll(weight, 1, 0) * weight.unsqueeze(0).squeeze(0).transpose(0, 1).t(),
            x - torch.cat([lower, upper]) + first / last[:1],
        )

    def made(self, x):
        filled = torch.empty(4, 5)
        filled.fill_(3)
        added = x + torch.ones(4, 5) * 3 + torch.full((1,), 2.0) - torch.eye(4, 5)
        return (
            added,
            x * torch.tensor([1.0, 2, 3, 4, 5]) * torch.tensor(2.0) - filled,
            x + x.new_ones(4, 1) * 2 - x.new_full((5,), 3.0),
            x + self.weight.clone().mul_(2) + torch.zeros(4, 5).add_(0.5),
        )

    def positions(self, x):
        rows, columns = torch.arange(4), torch.arange(0, 10, 2)
        query, key = torch.meshgrid(rows, columns, indexing="ij")
        distance = rows[:, None] - columns[None]
        slopes = distance.abs() * -0.5
        once = F.one_hot(columns // 2, 5)[:4]
        return (
            x * rows[:, None] + slopes,
            x + query * 5 - key,
            x + once + columns.sum(),
            x - distance,
        )

    def masks(self, x):
        causal = torch.triu(torch.ones(4, 5), 1).bool()
        window = torch.tril(torch.ones(4, 5, dtype=torch.bool), 2) & ~causal.flip(0)
        marked = torch.zeros(4, 5).scatter_(1, self.index[:, None], 1.0)
        return (
            x.masked_fill(causal, -1) + torch.where(self.mask, x, self.weight),
            x + torch.zeros(4, 5).masked_fill(window, float(-100)),
            x + torch.where(self.mask | causal, self.weight, self.weight * 0) + marked,
        )

    def layers(self, x, y):
        blur = torch.tensor([1.0, 2.0, 1.0])
        kernel = (blur[:, None] * blur[None]).expand(3, 1, 3, 3) / 16
        return (
            F.linear(x, self.weight * 0.5, self.weight[:, 0]),
            F.conv2d(y, kernel, padding=1, groups=3),
            F.embedding(self.index[1:2], self.weight) * x,
            torch.cat([self.weight[None] * 2, x], 0),
        )
