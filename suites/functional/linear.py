"""Linear maps, embeddings, distances and attention of torch.nn.functional."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from suites.case import Input, case


@case(inputs=[(1, 16), (12, 2, 16), (1, 3, 12, 16), (10, 16), (10,), (16,)])
class F_linear(nn.Module):
    """Stored weights, and weights that are inputs; a single row of either."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(12, 16))
        self.bias = nn.Parameter(torch.rand(12))

    def forward(self, x, y, z, weight, bias, v):
        return (
            F.linear(x, self.weight, self.bias),
            F.linear(x, weight, bias),
            F.linear(y, self.weight),
            F.linear(y, weight=weight, bias=bias),
            F.linear(z, self.weight, bias=self.bias),
            F.linear(z, weight),
            F.linear(v, self.weight, self.bias),
        )


@case(
    inputs=[
        Input((17,), "int64"),
        Input((2, 11), "int64"),
        Input((1, 3, 5), "int32"),
        (10, 24),
    ],
    ncnn_inputs=[Input((17,), "int64"), Input((2, 11), "int64")],
)
class F_embedding(nn.Module):
    """Indices are 0..9, so tables have ten rows and more; one table is an input."""

    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(torch.rand(10, 128))
        self.other = nn.Parameter(torch.rand(27, 16))

    def forward(self, x, y, z=None, w=None):
        rows = F.embedding(x, self.table), F.embedding(y, self.other, padding_idx=1)
        if z is None:
            return rows
        return (
            *rows,
            F.embedding(z, self.table, scale_grad_by_freq=True),
            F.embedding(y, weight=w),
        )


@case(inputs=[(12, 24), (12, 24), (1, 3, 5, 16), (1, 3, 5, 16), (16,), (16,)])
class F_pairwise_distance(nn.Module):
    def forward(self, x, y, z, w, u, v):
        return (
            F.pairwise_distance(x, y),
            F.pairwise_distance(x, y, p=1, eps=1e-3),
            F.pairwise_distance(x, y, p=3.0, keepdim=True),
            F.pairwise_distance(z, w, p=2, keepdim=True),
            F.pairwise_distance(z, w, 2.0, 1e-2),
            F.pairwise_distance(u, v),
        )


@case(
    inputs=[
        *[(3, 8, 128, 64), (3, 8, 48, 64), (3, 8, 48, 77)],
        (3, 8, 128, 48),
        *[(3, 8, 20, 64), (3, 8, 20, 64), (3, 8, 20, 64)],
        (3, 1, 128, 48),
        *[(5, 12, 16), (5, 12, 16), (5, 12, 16)],
    ],
    ncnn_inputs=[
        *[(1, 8, 128, 64), (1, 8, 48, 64), (1, 8, 48, 77)],
        (1, 8, 128, 48),
        *[(1, 8, 20, 64), (1, 8, 20, 64), (1, 8, 20, 64)],
    ],
)
class F_scaled_dot_product_attention(nn.Module):
    """Other lengths and widths of keys and values, added and boolean masks, causal, own scale."""

    def forward(self, q, k, v, added, sq, sk, sv, chance=None, x=None, y=None, z=None):
        attended = (
            F.scaled_dot_product_attention(q, k, v),
            F.scaled_dot_product_attention(q, k, v, attn_mask=added),
            F.scaled_dot_product_attention(sq, sk, sv, scale=0.3),
        )
        if chance is None:
            return attended
        return (
            *attended,
            F.scaled_dot_product_attention(q, k, v, attn_mask=chance > 0.3, dropout_p=0.0),
            F.scaled_dot_product_attention(sq, sk, sv, is_causal=True),
            F.scaled_dot_product_attention(sq, sk[:, :2], sv[:, :2], enable_gqa=True),
            F.scaled_dot_product_attention(x, y, z),
        )
