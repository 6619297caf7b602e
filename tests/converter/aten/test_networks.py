"""Small networks as people build them: as exported and decomposed, spelled and optimized."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from equality import How, check
from torch import nn

from suites.compare import arithmetic, exact


class Convolutional(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, 8, 3, 2, 1, bias=False), nn.BatchNorm2d(8), nn.ReLU()
        )
        self.depthwise = nn.Sequential(
            nn.Conv2d(8, 8, 3, padding=1, groups=8), nn.BatchNorm2d(8), nn.Hardswish(inplace=True)
        )
        self.up = nn.ConvTranspose2d(8, 4, 2, 2)
        self.head = nn.Linear(4, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.max_pool2d(self.stem(x), 2)
        x += self.depthwise(x)
        x = F.avg_pool2d(F.relu6(self.up(x)), 2)
        return F.softmax(self.head(F.adaptive_avg_pool2d(x, 1).flatten(1)), dim=1)


class Transformer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.tokens, self.positions = nn.Embedding(20, 16), nn.Embedding(10, 16)
        self.before, self.after = nn.LayerNorm(16), nn.LayerNorm(16)
        self.qkv, self.out = nn.Linear(16, 48), nn.Linear(16, 16)
        self.mlp = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16), nn.Dropout(0.1))

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        batch, length = tokens.shape
        x = self.tokens(tokens) + self.positions(torch.arange(length))
        q, k, v = (self.heads(part) for part in self.qkv(self.before(x)).chunk(3, dim=-1))
        mask = torch.ones(length, length, dtype=torch.bool).tril()
        scores = (q @ k.transpose(-2, -1) / 2).masked_fill(~mask, float("-inf"))
        y = scores.softmax(-1) @ v
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, 16))
        return x + self.mlp(self.after(x))

    @staticmethod
    def heads(x: torch.Tensor) -> torch.Tensor:
        return x.view(*x.shape[:2], 4, 4).transpose(1, 2)


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(4, 6, 2, bidirectional=True)
        self.gru = nn.GRU(12, 5, batch_first=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.gru(self.lstm(x)[0])[0][:, -1]


class Detector(nn.Module):
    """Writes into slices of tensors that it makes, as heads of detectors and Swin's masks do."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 6, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.conv(x).permute(0, 2, 3, 1).contiguous()
        y[..., 0:2] = y[..., 0:2].sigmoid() * 2 - 0.5
        y[..., 2:4] = (y[..., 2:4].sigmoid() * 2) ** 2
        y[..., 4:].sigmoid_()
        mask = torch.zeros(1, *y.shape[1:3], 1)
        for count, rows in enumerate((slice(0, -2), slice(-2, -1), slice(-1, None))):
            mask[:, rows, rows] = count
        return (y * (mask == mask.transpose(1, 2))).view(x.shape[0], -1, 6)


torch.manual_seed(0)
NETWORKS = {
    "convolutional": (Convolutional(), torch.rand(1, 3, 24, 24)),
    "transformer": (Transformer(), torch.randint(20, (2, 7))),
    "recurrent": (Recurrent(), torch.rand(5, 2, 4)),
    "detector": (Detector(), torch.rand(1, 3, 6, 6)),
}


@pytest.mark.parametrize(
    ("name", "optlevel"),
    [
        (name, level)
        for name in NETWORKS
        for level in (0, 1, 2)
        if name != "recurrent" or level == 2
    ],
)
def test_networks(name: str, optlevel: int) -> None:
    """To the bit, but at level 2, which leaves `contiguous` out: other loops do the same then."""
    network, x = NETWORKS[name]
    how = How(optlevel=optlevel, rule=arithmetic if optlevel == 2 else exact)
    check("network(x)", network=network, x=x, how=how)
