"""Programs with dynamic dims: one conversion computes what the model does, at every size."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from sizes import LEVELS, check
from torch import nn


class One(nn.Module):
    """A function of a tensor as a module."""

    def __init__(self, function: Callable[..., object]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: torch.Tensor) -> object:
        return self.function(x)


class Two(One):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> object:  # type: ignore[override]
        return self.function(x, y)


def sizes_of_views(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
    batch, length, width = x.shape
    return (
        x.view(batch, -1, length // 2),
        x.view(-1, width),
        x.view(batch * length, width),
        x.reshape(batch, length, 4, width // 4).transpose(1, 2),
        x.reshape(batch, -1),
        (x + 1).view(batch, length, 4, width // 4).view(-1, width),
        x.flatten(0, 1),
        x.flatten(1).unflatten(1, (length, width)),
        y.expand(batch, length, y.shape[-1]),
        y.expand(-1, length, -1).repeat(1, 1, length // 2),
        y.repeat_interleave(length, 1),
        x[:, None].expand(-1, length, -1, -1),
        x.permute(2, 0, 1).reshape(width, -1),
        x.unsqueeze(0).squeeze(0),
    )


def parts(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    length = x.shape[1]
    return (
        x[:, : length - 1],
        x[:, -length // 2 :],
        x[:, length // 2 : length - 1],
        x[:, 1 : length - 1 : 2],
        x[:, length - 2],
        x.narrow(1, 1, length - 2),
        x.select(1, length - 1),
        *x.chunk(2, 1),
        x.roll(length // 2, 1),
        x.split(length // 2, 1)[0],
        torch.cat([x[:, length // 2 :], x[:, : length // 2]], 1),
        x.index_select(1, torch.arange(length - 1)),
        F.pad(x, (0, 0, 0, (4 - length % 4) % 4)),
        F.pad(x, (1, length - 2)),
        x.tril(length - 3),
        x.diagonal(0, 1, 2),
    )


def created(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    batch, length, _ = x.shape
    places = torch.arange(length, device=x.device)
    return (
        torch.zeros(batch, length, 3),
        torch.ones(length, dtype=torch.int64),
        torch.full((length, 2), 1.5),
        torch.full((length, 2), length),
        torch.zeros_like(x),
        torch.ones_like(x, dtype=torch.int32),
        torch.full_like(x, 2),
        x.new_zeros(length, 4),
        x.new_ones(batch),
        x.new_full((length,), 3.0),
        places,
        torch.arange(1, length),
        torch.arange(0, 2 * length, 2),
        torch.arange(length, dtype=torch.float32),
        torch.eye(length),
        places[None, :] <= places[:, None],
        torch.ones(length, length).tril(),
        torch.zeros(length, length).masked_fill(places[None] > places[:, None], -1e9),
        torch.tensor(length),
    )


def arithmetic_of_sizes(x: torch.Tensor, y: torch.Tensor) -> tuple[object, ...]:
    length, other = x.shape[1], y.shape[0]
    return (
        x * length,
        x / length,
        length - x,
        x + length * other,
        x * (1 / math.sqrt(8)) + other,
        x.sum(1) / max(length, 1),
        torch.zeros(torch.sym_max(length, other), torch.sym_min(length, other)),
        torch.zeros(length % 3, length**2, -(-length // 2)),
        torch.zeros(torch.sym_ite(length > other, length, other)),
        x * torch.sym_float(length),
        x > other,
        x.clamp(max=length / 16),
        x.mean(1) * length,
        length,
        length + other,
        x.numel(),
        [length, {"other": other}],
    )


def counted(x: torch.Tensor) -> tuple[object, ...]:
    found, whole = torch.nonzero(x > 0.5), (x * 4).long()
    return (
        found,
        found.shape[0],
        x[x > 0.5],
        torch.masked_select(x, x > 0.25),
        x * found.shape[0],
        torch.unique(whole),
        torch.unique(whole, return_inverse=True),
        x.repeat_interleave(whole[0, :, 0], 1),
        torch.nonzero(x > 0.5, as_tuple=True),
        torch.cat([x[x > 0.5], x.flatten()]),
        torch.bincount(whole.flatten()),
        x[x.sum(-1) > 8].sum(0),
        x.flatten()[torch.nonzero(x.flatten() > 0.5).squeeze(1)] * 2,
    )


def items(x: torch.Tensor) -> tuple[object, ...]:
    count = (x * 10).sum().to(torch.int64).item()
    torch._check(count >= 0)
    torch._check(count <= 10**6)
    return torch.zeros(count), x.max().item(), count + 1


def in_place(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    length = x.shape[1]
    y = x.clone()
    y[:, : length // 2] = 0
    y[:, 1 : length - 1] += 1
    z = torch.zeros(x.shape[0], length + 2, x.shape[2])
    z[:, 1:-1] = x
    w = x.clone()
    w.view(-1, x.shape[2])[0] = 5
    v = x.clone()
    v.copy_(y[:1])
    u = x.clone()
    u.transpose(0, 1)[length - 1].mul_(2)
    t = x.clone()
    t.reshape(x.shape[0], -1)[:, 1:] *= 2
    return y, z, w, v, u, t


THREE = [(2, 8, 16)], [(3, 12, 16)], [(4, 10, 16)]
PAIRS = [(2, 8, 16), (2, 1, 3)], [(3, 12, 16), (3, 1, 3)], [(4, 10, 16), (4, 1, 3)]
TWO = [(2, 8, 4), (5,)], [(3, 11, 4), (15,)], [(4, 7, 4), (9,)]


@pytest.mark.parametrize("decomposed", [False, True])
@pytest.mark.parametrize(
    ("function", "shapes"),
    [
        (sizes_of_views, PAIRS),
        (parts, THREE),
        (created, THREE),
        (arithmetic_of_sizes, TWO),
        (counted, THREE),
        (items, THREE),
        (in_place, THREE),
    ],
)
def test_functions_of_sizes(
    function: Callable[..., object], shapes: tuple, decomposed: bool
) -> None:
    model = (One, Two)[len(shapes[0]) - 1](function)
    check(model, *shapes, decomposed=decomposed)


class Convolutional(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2)
        )
        self.up = nn.Upsample(scale_factor=2, mode="nearest")
        self.head = nn.Linear(8, 5)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y = self.body(x)
        z = F.interpolate(y, size=x.shape[2:], mode="bilinear", align_corners=False) + x[:, :1]
        pooled = F.adaptive_avg_pool2d(z + self.up(y)[:, :, : z.shape[2], : z.shape[3]], 1)
        return self.head(torch.flatten(pooled, 1)), z


IMAGES = [(2, 3, 16, 12)], [(3, 3, 20, 32)], [(1, 3, 8, 8)]


class Attention(nn.Module):
    """A block of a transformer, with a causal mask of the sequence's length."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(16)
        self.qkv = nn.Linear(16, 48)
        self.out = nn.Linear(16, 16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        q, k, v = self.qkv(self.norm(x)).chunk(3, -1)
        q, k, v = (t.view(batch, length, 4, width // 4).transpose(1, 2) for t in (q, k, v))
        places = torch.arange(length, device=x.device)
        mask = torch.where(places[None] > places[:, None], float("-inf"), 0.0)
        scores = q @ k.transpose(-1, -2) / math.sqrt(width // 4) + mask
        y = (scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, length, width)
        return x + self.out(y)


class Scaled(Attention):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        q, k, v = (
            t.view(batch, length, 4, width // 4).transpose(1, 2)
            for t in self.qkv(self.norm(x)).split(width, -1)
        )
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return x + self.out(y.transpose(1, 2).flatten(2))


class Cached(nn.Module):
    """Keys of earlier tokens come in, and go out with the new ones."""

    def __init__(self) -> None:
        super().__init__()
        self.key = nn.Linear(8, 8)

    def forward(self, x: torch.Tensor, past: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        keys = torch.cat([past, self.key(x)], 1)
        seen = past.shape[1]
        places = torch.arange(seen, seen + x.shape[1])
        mask = torch.arange(keys.shape[1])[None] <= places[:, None]
        scores = (x @ keys.transpose(1, 2)).masked_fill(~mask, -1e9)
        return scores.softmax(-1) @ keys, keys


CACHES = (
    [(2, 3, 8), (2, 5, 8)],
    [(4, 4, 8), (4, 7, 8)],
    [(3, 2, 8), (3, 9, 8)],
)


class Recurrent(nn.Module):
    """torch.export takes the length of a sequence for fixed, not the size of a batch."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(16, 7, batch_first=True, bidirectional=True)
        self.gru = nn.GRU(14, 5, batch_first=True)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y, (h, c) = self.lstm(x)
        z, _ = self.gru(y)
        return z[:, -1], h, c


class Pooled(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        last = x.shape[1] - 1
        return x[:, :last].amax(1) + y.sum(1) * last


@pytest.mark.parametrize(
    ("model", "shapes"),
    [
        (Convolutional, IMAGES),
        (Attention, THREE),
        (Scaled, THREE),
        (Cached, CACHES),
        (Recurrent, ([(2, 8, 16)], [(3, 8, 16)], [(5, 8, 16)])),
        (Pooled, ([(2, 8, 4), (2, 3, 4)], [(3, 5, 4), (3, 6, 4)], [(4, 9, 4), (4, 2, 4)])),
    ],
)
def test_networks(model: type[nn.Module], shapes: tuple) -> None:
    torch.manual_seed(1)
    check(model(), *shapes, rules=LEVELS)
