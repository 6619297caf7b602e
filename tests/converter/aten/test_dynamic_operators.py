"""Operators of tensors whose every dim is dynamic, or whose arguments follow from sizes."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from sizes import LEVELS, check
from torch import nn

from suites.compare import arithmetic


class Program(nn.Module):
    """Expressions of `x`, an image or a sequence, and of the modules that it holds."""

    def __init__(self, expressions: list[str], modules: dict[str, nn.Module]) -> None:
        super().__init__()
        self.held = nn.ModuleDict(modules)
        self.codes = [compile(text, text, "eval") for text in expressions]

    def forward(self, x: torch.Tensor) -> tuple[Any, ...]:
        scope = {"torch": torch, "F": F, "x": x, "n": x.shape[1], "m": x.shape[2], **self.held}
        return tuple(eval(code, scope) for code in self.codes)


SEQUENCES = [(2, 8, 12)], [(3, 10, 16)], [(4, 7, 20)]
IMAGES = [(2, 3, 16, 12)], [(3, 3, 20, 32)], [(4, 3, 12, 24)]

OF_SEQUENCES = """
F.layer_norm(x, (m,))
F.layer_norm(x, x.shape[1:])
F.rms_norm(x, (m,))
F.normalize(x, dim=1)
F.softmax(x, 1) @ x.transpose(1, 2)
F.pad(x, (0, n - 2))
F.pad(x, (1, 2, 3, 0), value=1.0)
F.pad(x, (1, 2), mode="reflect")
F.unfold(x[:, None], (2, 2))
F.glu(x, 2)
F.conv1d(x, torch.ones(4, 1, 3).repeat(1, n, 1))
F.avg_pool1d(x, 3, 1, 1)
F.adaptive_avg_pool1d(x, 2)
F.adaptive_max_pool1d(x, 1)
F.interpolate(x, size=n * 2)
F.interpolate(x, scale_factor=2.0, mode="linear")
F.scaled_dot_product_attention(x[:, None], x[:, None], x[:, None], is_causal=True)
F.cosine_similarity(x, x * 2, 1)
F.embedding((x * 4).long(), torch.ones(5, 6))
tuple(x.topk(n // 2, 1))
tuple(x.sort(1))
x.cumsum(1)
x.flip(1)
x.roll(n // 2, 1)
x.std(1)
x.amax((1, 2))
x.logsumexp(1)
x.argmax(2)
tuple(x.max(1))
tuple(x.median(1))
x.norm(dim=1)
x.sum((0, 2)) / n
x.mean((1, 2), keepdim=True) * m
x.gather(1, (x * 5).long())
x.scatter_add(1, (x * 5).long(), x)
x.index_select(1, torch.arange(n // 2))
x[:, torch.arange(n - 1, -1, -1)]
x[torch.arange(2)[:, None], torch.arange(2)]
x.tril(n // 4)
x.triu(1 - m)
x.diagonal(0, 1, 2)
x.masked_fill(x > 0.5, n)
x.where(x > 0.5, x * n)
x.clamp(0.1, n / 100)
x.pow(2) + n ** 2
x // (1 / n)
x.remainder(n)
x.unflatten(1, (-1, n))
x.split([2, n - 2], 1)
x.split(n - 1, 1)
x.chunk(2, 2)
x.tensor_split([n // 2], 1)
x.unsqueeze(1).expand(-1, 3, -1, -1).reshape(-1, n, m)
torch.var_mean(x, 2)
x.view(-1, 2, m // 2)
x.permute(1, 2, 0).contiguous().view(n * m, -1)
x.transpose(0, 1).flatten()
x.repeat(1, 2, 1)
x.tile((2, 1, 1))
x.repeat_interleave(2, 1)
torch.stack([x, x], 1).flatten(1, 2)
torch.cat([x, x[:, :1].expand(-1, n, -1)], 1)
torch.einsum("bnm,bkm->bnk", x, x)
torch.bmm(x, x.mT)
torch.baddbmm(x @ x.mT, x, x.mT)
torch.cdist(x, x)
torch.meshgrid(torch.arange(n), torch.arange(m), indexing="ij")
torch.arange(n)[None] < torch.arange(1, x.shape[0] + 1)[:, None]
torch.linalg.vector_norm(x, dim=1)
torch.fft.rfft(x, dim=1)
torch.fft.irfft(torch.fft.rfft(x, dim=1), n=n, dim=1)
torch.randn_like(x).shape[1] + torch.rand(n, m).shape[0]
torch.broadcast_to(x[:, :1], (x.shape[0], n, m))
torch.outer(x[0, 0], x[0, 1])
torch.zeros(n, m).index_fill(0, torch.tensor([0]), 1.0)
torch.full_like(x, n).sub_(1)
torch.empty(n, m).fill_(3)
torch.ones(n, m).nonzero()
torch.bucketize(x, torch.arange(n) / n)
torch.diag_embed(x)
torch.zeros(x.size()).add(x, alpha=n)
""".strip().splitlines()

OF_IMAGES = """
conv(x)
F.relu(norm(conv(x)))
up(conv(x))
instance(x)
group(conv(x))
F.max_pool2d(x, 3, 2, 1)
F.max_pool2d(x, 2, return_indices=True)
F.avg_pool2d(x, 3, 2, 1, ceil_mode=True)
F.adaptive_avg_pool2d(x, (x.shape[2] // 2, 1))
F.adaptive_avg_pool2d(x, (3, 2))
F.adaptive_max_pool2d(x, 1).flatten(1)
F.interpolate(x, size=(x.shape[2] // 2, x.shape[3] * 2), mode="bicubic")
F.interpolate(x, scale_factor=(2.0, 0.5), mode="bilinear")
F.pixel_shuffle(conv(x), 2)
F.pixel_unshuffle(x, 2)
F.channel_shuffle(conv(x), 2)
F.unfold(x, 3, padding=1)
F.pad(x, (1, 1, 2, 2), mode="replicate")
F.local_response_norm(x, 3)
F.layer_norm(x, x.shape[2:])
F.conv2d(x, torch.ones(4, 3, 3, 3), padding="same")
F.conv_transpose2d(x, torch.ones(3, 2, 2, 2), stride=2)
F.dropout(x, training=False).mean((2, 3))
x.flatten(2).transpose(1, 2)
x.view(x.shape[0], 3, -1).softmax(-1).view_as(x)
x[:, :, ::2, 1:-1]
x.reshape(x.shape[0], 3, x.shape[2] // 2, 2, -1, 2).permute(0, 2, 4, 3, 5, 1).flatten(3)
(x - x.mean((2, 3), keepdim=True)) / x.std((2, 3), keepdim=True)
torch.cat([x, torch.linspace(0, 1, 5)[None, None, :1, None].expand_as(x[:, :1])], 1)
""".strip().splitlines()


def modules() -> dict[str, nn.Module]:
    torch.manual_seed(2)
    return {
        "conv": nn.Conv2d(3, 8, 3, padding=1),
        "norm": nn.BatchNorm2d(8),
        "up": nn.ConvTranspose2d(8, 4, 2, 2),
        "instance": nn.InstanceNorm2d(3),
        "group": nn.GroupNorm(2, 8),
    }


@pytest.mark.parametrize("decomposed", [False, True])
@pytest.mark.parametrize(("texts", "shapes"), [(OF_SEQUENCES, SEQUENCES), (OF_IMAGES, IMAGES)])
def test_operators(texts: list[str], shapes: Any, decomposed: bool) -> None:
    model = Program(texts, modules() if texts is OF_IMAGES else {})
    check(model, *shapes, rules={1: arithmetic} if decomposed else LEVELS, decomposed=decomposed)
