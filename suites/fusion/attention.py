"""Attention as models spell it: pnnx makes modules and torch's own function of some spellings.

The others stay, and must not be taken for one of those.
"""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F

from suites.case import case


class Projections(nn.Module):
    """Linear layers of query, key, value and output, around an attention of four heads."""

    def __init__(self, size=32, source=32, *, bias=True, output_bias=True):
        super().__init__()
        self.query = nn.Linear(size, size, bias=bias)
        self.key = nn.Linear(source, size, bias=bias)
        self.value = nn.Linear(source, size, bias=bias)
        self.output = nn.Linear(size, size, bias=output_bias)
        self.scale = (size // 4) ** -0.5

    def heads(self, x):
        return x.view(x.size(0), x.size(1), 4, -1).transpose(1, 2)

    def joined(self, x):
        return x.transpose(1, 2).reshape(x.size(0), x.size(2), -1)


class Encoder(Projections):
    """As BERT has it, but for the scale, which is multiplied."""

    def forward(self, x, mask=None):
        query, key, value = (self.heads(layer(x)) for layer in (self.query, self.key, self.value))
        scores = torch.matmul(query, key.transpose(-1, -2)) * self.scale
        if mask is not None:
            scores = scores + mask
        return self.output(self.joined(torch.matmul(F.softmax(scores, dim=-1), value)))


class Cross(Projections):
    """As diffusion models have it: without a bias of the projections, by torch's function."""

    def forward(self, x, context):
        query, key, value = self.query(x), self.key(context), self.value(context)
        query, key, value = self.heads(query), self.heads(key), self.heads(value)
        return self.output(self.joined(F.scaled_dot_product_attention(query, key, value)))


class Clip(Projections):
    """As CLIP and BART have it: the query is scaled, batches and heads are one dim."""

    def heads(self, x):
        return super().heads(x).contiguous().view(x.size(0) * 4, x.size(1), -1)

    def forward(self, x, context=None, mask=None):
        context = x if context is None else context
        shape = x.size(0), 4, x.size(1), context.size(1)
        query = self.heads(self.query(x) * self.scale)
        key, value = self.heads(self.key(context)), self.heads(self.value(context))
        weights = torch.bmm(query, key.transpose(1, 2))
        if mask is not None:
            weights = (weights.view(shape) + mask).view(shape[0] * 4, *shape[2:])
        mixed = torch.bmm(F.softmax(weights, dim=-1), value)
        return self.output(self.joined(mixed.view(*shape[:3], -1)))


class Vision(nn.Module):
    """As ViT has it: one linear layer makes query, key and value."""

    def __init__(self, function):
        super().__init__()
        self.qkv = nn.Linear(32, 96, bias=False)
        self.output = nn.Linear(32, 32)
        self.function = function

    def forward(self, x):
        batch, length, width = x.shape
        split = self.qkv(x).reshape(batch, length, 3, 4, 8).permute(2, 0, 3, 1, 4)
        query, key, value = split.unbind(0)
        mixed = self.function(query, key, value)
        return self.output(mixed.transpose(1, 2).reshape(batch, length, width))


class Grouped(Projections):
    """As LLMs have it: two heads share a key and a value, and each sees only what came before."""

    def __init__(self):
        super().__init__(bias=False, output_bias=False)
        self.key, self.value = nn.Linear(32, 16, bias=False), nn.Linear(32, 16, bias=False)
        self.register_buffer("causal", torch.full((10, 10), -1e9).triu(1))

    def forward(self, x):
        batch, length, _ = x.shape
        query = self.heads(self.query(x))
        key, value = (
            layer(x).view(batch, length, 2, 1, 8).expand(-1, -1, 2, 2, 8).reshape(x.size(0), 10, 32)
            for layer in (self.key, self.value)
        )
        scores = torch.matmul(query, self.heads(key).transpose(2, 3)) * self.scale + self.causal
        weights = F.softmax(scores, dim=-1, dtype=torch.float32).to(x.dtype)
        return self.output(self.joined(torch.matmul(weights, self.heads(value))))


class Others(Projections):
    """What no module does: another scale, weights that are read, sums over the keys."""

    def forward(self, x, mask):
        query, key, value = (self.heads(layer(x)) for layer in (self.query, self.key, self.value))
        scores = torch.matmul(query, key.transpose(-1, -2))
        read = F.softmax(scores * self.scale, dim=-1)
        mixed = (
            F.softmax(scores * 0.5, dim=-1) @ value,
            F.softmax(scores, dim=-1) @ value,
            F.softmax(scores * self.scale, dim=-2) @ value,
            F.softmax(scores * self.scale * mask, dim=-1) @ value,
            F.softmax((scores + mask) * self.scale, dim=-1) @ value,
            torch.sigmoid(scores * self.scale) @ value,
            F.softmax(scores * self.scale, dim=-1) @ key,
            read @ value,
            F.scaled_dot_product_attention(query, key, value, is_causal=True),
            F.scaled_dot_product_attention(query, key, value, mask > 0.3, scale=0.3),
        )
        return read, *(self.output(self.joined(one)) for one in mixed)


@case(inputs=[(1, 10, 32), (2, 7, 24), (1, 1, 10, 10), (2, 10, 32), (2, 1, 10, 7)])
class pnnx_fuse_multiheadattention(nn.Module):
    """Also nn.MultiheadAttention itself, one after the other."""

    def __init__(self):
        super().__init__()
        self.first = Encoder()
        self.second = Encoder()
        self.cross = Cross(source=24, bias=False)
        self.clip = Clip()
        self.clip_cross = Clip(source=24)
        self.composed = Vision(lambda q, k, v: (q @ k.transpose(-2, -1) * 8**-0.5).softmax(-1) @ v)
        self.torchs = Vision(F.scaled_dot_product_attention)
        self.grouped = Grouped()
        self.others = Others()
        self.module = nn.MultiheadAttention(32, 4, batch_first=True)
        self.wide = nn.MultiheadAttention(32, 4, kdim=24, vdim=24, batch_first=True)

    def forward(self, x, context, mask, y, context_mask):
        x = self.second(x + self.first(F.relu(x)), mask)
        y = y + self.cross(y, context)
        module, _ = self.module(y, y, y, need_weights=False)
        return (
            x,
            self.clip(y),
            self.clip(x, mask=mask),
            self.clip_cross(y, context, context_mask),
            self.composed(x),
            self.torchs(y),
            self.grouped(x),
            self.others(x, mask),
            self.wide(module, context, context),
        )


@case(
    inputs=[
        *[(2, 4, 6, 8)] * 3,
        *[(2, 1, 6, 6), (2, 1, 1, 6), (2, 4, 6, 6), (6, 6)],
        *[(2, 4, 5, 8), (2, 1, 6, 5)],
    ]
)
class pnnx_fuse_scaled_dot_product_attention(nn.Module):
    """Of tensors that are split into heads: masks of several shapes, and torch's own function."""

    def __init__(self):
        super().__init__()
        self.register_buffer("causal", torch.full((1, 1, 6, 6), float("-inf")).triu(1))
        self.register_buffer("seen", torch.ones(6, 6).tril().bool())

    def forward(self, q, k, v, mask, padding, heads, rows, context, context_mask):
        return (
            *(attend(q, k, v, one) for one in (mask, padding, heads, rows, self.causal)),
            attend(q, context, context * 2, context_mask),
            F.dropout(attend(q, k[:, :1].expand(-1, 4, -1, -1), v, mask), 0.1, self.training),
            *self.functions(q, k, v, mask),
            *self.spellings(q, k, v, mask),
            *self.others(q, k, v, mask),
        )

    def functions(self, q, k, v, mask):
        return (
            F.scaled_dot_product_attention(q, k, v),
            F.scaled_dot_product_attention(q, k, v, attn_mask=mask) * 2,
            F.scaled_dot_product_attention(q, k, v, is_causal=True),
            F.scaled_dot_product_attention(q, k, v, scale=0.3),
            F.scaled_dot_product_attention(q, k, v, self.seen),
            F.scaled_dot_product_attention(q[:, 0], k[:, 0], v[:, 0]),
        )

    def spellings(self, q, k, v, mask):
        scores = torch.matmul(q, k.transpose(2, 3)) * 8**-0.5
        q3, k3, v3 = (one.reshape(8, 6, 8) for one in (q, k, v))
        return (
            F.softmax(q @ k.transpose(-2, -1) / math.sqrt(8) + mask, dim=-1) @ v,
            F.softmax((q * 8**-0.5) @ k.transpose(2, 3) + mask, -1) @ v,
            F.softmax(scores.masked_fill(~self.seen, float("-inf")), -1) @ v,
            F.softmax(torch.where(self.seen, scores, torch.tensor(-1e9)), -1) @ v,
            torch.bmm(F.softmax(torch.bmm(q3, k3.transpose(1, 2)) * 8**-0.5, -1), v3),
            torch.einsum("bhij,bhjd->bhid", scores.softmax(-1), v),
        )

    def others(self, q, k, v, mask):
        """Another scale, dim, order; weights that are read or changed."""
        scores = torch.matmul(q, k.transpose(2, 3))
        read = F.softmax(scores * 8**-0.5 + mask, dim=-1)
        return (
            attend(q, k, v, mask, 0.3),
            torch.matmul(F.softmax(scores * 8**-0.5 + mask, dim=2), v),
            torch.matmul(F.softmax((scores + mask) * 8**-0.5, dim=-1), v),
            torch.matmul(F.softmax(scores * 8**-0.5 * mask, dim=-1), v),
            torch.matmul(F.softmax(torch.tanh(scores * 8**-0.5) * 5 + mask, dim=-1), v),
            torch.matmul(read, v) + read.max(),
            torch.matmul(F.softmax(scores + mask, dim=-1), v),
        )


def attend(query, key, value, mask, scale=8**-0.5):
    scores = torch.matmul(query, key.transpose(2, 3)) * scale + mask
    return torch.matmul(F.softmax(scores, dim=-1), value)
