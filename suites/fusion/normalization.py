"""Layer-norms and RMS-norms that models write out, and what only looks like one.

Statistics of other dims, unbiased ones, and an epsilon in another place make other functions.
"""

import torch
import torch.nn as nn
import torch.nn.functional as F

from suites.case import case


def weights(*shape):
    return nn.Parameter(torch.rand(shape) + 0.1)


class LayerNorm(nn.Module):
    """As BERT had it, with the epsilon of TensorFlow."""

    def __init__(self, size, eps=1e-12):
        super().__init__()
        self.weight, self.bias, self.eps = weights(size), weights(size), eps

    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        variance = (x - mean).pow(2).mean(-1, keepdim=True)
        return self.weight * ((x - mean) / torch.sqrt(variance + self.eps)) + self.bias


class LayerNorm2d(nn.Module):
    """Over the channels of an image, as ConvNeXt and SAM have it."""

    def __init__(self, size, eps=1e-6):
        super().__init__()
        self.weight, self.bias, self.eps = weights(size), weights(size), eps

    def forward(self, x):
        mean = x.mean(1, keepdim=True)
        variance = (x - mean).pow(2).mean(1, keepdim=True)
        x = (x - mean) / torch.sqrt(variance + self.eps)
        return self.weight[:, None, None] * x + self.bias[:, None, None]


@case(inputs=[(2, 5, 16), (1, 12, 6, 7), (7, 16), (2, 3, 4, 8)])
class pnnx_fuse_layernorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.bert = LayerNorm(16)
        self.image = LayerNorm2d(12)
        self.norm = nn.LayerNorm(12, eps=1e-6)
        self.weight, self.bias = weights(16), weights(16)
        self.planes = weights(4, 8)

    def forward(self, x, y, z, w):
        return (
            self.bert(x),
            F.relu(self.bert(self.bert(z))),
            self.image(y),
            self.norm(y.permute(0, 2, 3, 1)).permute(0, 3, 1, 2),
            self.norm(y.flatten(2).transpose(1, 2)).transpose(1, 2),
            *self.spellings(x),
            *self.others(x),
            self.planar(w),
        )

    def spellings(self, x):
        weight, bias = self.weight, self.bias
        mean = torch.mean(x, dim=2, keepdim=True)
        centred = x - mean
        square = torch.mean(centred * centred, dim=-1, keepdim=True)
        variance = x.var(dim=-1, keepdim=True, unbiased=False)
        return (
            centred / torch.sqrt(square + 1e-5),
            centred * torch.rsqrt((centred**2).mean(-1, True) + 1e-5) * weight + bias,
            bias + weight * (centred / (square + 1e-5) ** 0.5),
            (x - mean) / torch.sqrt(variance + 1e-3) * weight + bias,
            weight * (x - mean) * torch.rsqrt(variance + 1e-5) + bias,
            F.layer_norm(x, (16,)) * weight + bias,
            F.layer_norm(x, (16,), weight, bias, 1e-3) * 2,
        )

    def others(self, x):
        weight, bias = self.weight, self.bias
        mean = x.mean(-1, keepdim=True)
        rows = x.mean(1, keepdim=True)
        mixed = (x - rows).pow(2).mean(-1, keepdim=True)
        return (
            weight * (x - mean) / (x.std(-1, keepdim=True) + 1e-6) + bias,
            (x - mean) / torch.sqrt(x.var(-1, keepdim=True) + 1e-5),
            (x - rows) / torch.sqrt(mixed + 1e-5) * weight + bias,
            (x - mean) / torch.sqrt(mixed + 1e-5) * weight + bias,
            (x - mean) / torch.sqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5),
            (x - mean * 2) / torch.sqrt((x - mean * 2).pow(2).mean(-1, keepdim=True) + 1e-5),
            (x + mean) / torch.sqrt((x + mean).pow(2).mean(-1, keepdim=True) + 1e-5),
        )

    def planar(self, x):
        mean = x.mean((-2, -1), keepdim=True)
        variance = (x - mean).pow(2).mean((-2, -1), keepdim=True)
        return (x - mean) / torch.sqrt(variance + 1e-5) * self.planes + self.planes


class RMSNorm(nn.Module):
    """As T5 and Llama have it, and in Gemma's way with a weight around one."""

    def __init__(self, size, eps=1e-6, offset=0.0):
        super().__init__()
        self.weight, self.eps, self.offset = weights(size), eps, offset

    def forward(self, x):
        dtype = x.dtype
        x = x.to(torch.float32)
        variance = x.pow(2).mean(-1, keepdim=True)
        x = x * torch.rsqrt(variance + self.eps)
        weight = self.offset + self.weight if self.offset else self.weight
        return weight * x.to(dtype)


@case(inputs=[(2, 5, 16), (1, 12, 6, 7), (7, 16), (2, 3, 4, 8)])
class pnnx_fuse_rmsnorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.llama = RMSNorm(16)
        self.gemma = RMSNorm(16, 1e-5, 1.0)
        self.heads = RMSNorm(8)
        self.norm = nn.RMSNorm(16, eps=1e-4)
        self.weight, self.bias = weights(16), weights(16)
        self.channels = weights(12)
        self.planes = weights(4, 8)

    def forward(self, x, y, z, w):
        return (
            self.gemma(F.silu(self.llama(x))),
            self.llama(self.norm(z)) + z,
            self.heads(w.transpose(1, 2)),
            *self.spellings(x),
            *self.others(x),
            y * torch.rsqrt(y.pow(2).mean(1, keepdim=True) + 1e-6) * self.channels[:, None, None],
            w * torch.rsqrt(w.pow(2).mean((-2, -1), keepdim=True) + 1e-6) * self.planes,
        )

    def spellings(self, x):
        weight = self.weight
        return (
            x * torch.rsqrt(torch.mean(x**2, dim=-1, keepdim=True) + 1e-5),
            x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * weight,
            x * torch.rsqrt((x * x).mean(2, keepdim=True) + 1e-5) * weight,
            x / torch.sqrt(x.square().mean(-1, keepdim=True) + 1e-5) * weight,
            weight * (x * (x.pow(2).mean(-1, keepdim=True) + 1e-5) ** -0.5),
            weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5)) + self.bias,
            F.rms_norm(x, (16,), weight, 1e-5) * 2,
            F.rms_norm(x, (16,), eps=1e-5) * weight,
        )

    def others(self, x):
        variance = x.pow(2).mean(-1, keepdim=True)
        rows = x.pow(2).mean(1, keepdim=True)
        return (
            x * torch.rsqrt(variance) * self.weight,
            x * (torch.rsqrt(variance) + 1e-6),
            x * torch.rsqrt(rows + 1e-6) * self.weight,
            (x + 1) * torch.rsqrt(variance + 1e-6),
            x * torch.rsqrt(x.pow(3).mean(-1, keepdim=True) + 1e-6),
            x * torch.rsqrt(x.pow(2).sum(-1, keepdim=True) + 1e-6) * self.weight,
            self.weight * (x / (torch.norm(x, dim=-1, keepdim=True) * 0.25 + 1e-6)),
            x * torch.rsqrt(variance + 1e-6) * self.weight[:1],
            x * torch.rsqrt(variance + 1e-6) * x,
        )
