"""Linear layers, embeddings and attention."""

import torch.nn as nn
from torch.nn.utils.parametrizations import weight_norm

from suites.case import Input, case


@case(inputs=[(64,), (1, 64), (12, 64), (1, 3, 12, 64)], targets=("pnnx", "ncnn"))
class nn_Linear(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear_0 = nn.Linear(in_features=64, out_features=16, bias=False)
        self.linear_1 = nn.Linear(16, 3, bias=True)

    def forward(self, x, y, z, w):
        return (
            self.linear_1(self.linear_0(x)),
            self.linear_1(self.linear_0(y)),
            self.linear_1(self.linear_0(z)),
            self.linear_1(self.linear_0(w)),
        )


@case(
    inputs=[(1, 64), (12, 64), (1, 3, 12, 64)],
    proves=("torch.nn.utils.parametrizations.weight_norm",),
)
class nn_parametrizations_weight_norm_linear(nn.Module):
    """The norm is taken over each row, over each column, or over everything."""

    def __init__(self):
        super().__init__()
        self.linear_0 = weight_norm(nn.Linear(64, 16))
        self.linear_1 = weight_norm(nn.Linear(16, 8, bias=False), dim=1)
        self.linear_2 = weight_norm(nn.Linear(8, 3), dim=None)

    def forward(self, x, y, z):
        x, y, z = self.linear_0(x), self.linear_0(y), self.linear_0(z)
        return self.linear_2(self.linear_1(x)), self.linear_1(y), z


@case(
    inputs=[Input((13,), "int64"), Input((2, 11), "int64"), Input((1, 3, 5), "int32")],
    ncnn_inputs=[Input((13,), "int64"), Input((2, 11), "int64")],
)
class nn_Embedding(nn.Module):
    """Indices are 0..9, so tables have ten rows and more."""

    def __init__(self):
        super().__init__()
        self.embed_0 = nn.Embedding(num_embeddings=10, embedding_dim=128)
        self.embed_1 = nn.Embedding(27, 16, padding_idx=3)
        self.embed_2 = nn.Embedding(12, 5, scale_grad_by_freq=True)

    def forward(self, x, y, z=None):
        rows = self.embed_0(x), self.embed_1(x), self.embed_1(y), self.embed_2(y)
        return rows if z is None else (*rows, self.embed_0(z))


SEQUENCES = [(20, 1, 64), (15, 1, 40), (15, 1, 80), (1, 20, 64), (20, 15), (8, 20, 20)]


@case(inputs=[*SEQUENCES, (24, 64)], ncnn_inputs=SEQUENCES)
class nn_MultiheadAttention(nn.Module):
    """Other widths of keys and values, batch first and not, masks, weights, no batch.

    ncnn has no attention weights, no added keys and no input without a batch.
    """

    def __init__(self):
        super().__init__()
        self.cross = nn.MultiheadAttention(64, 4, kdim=40, vdim=80)
        self.spare = nn.MultiheadAttention(64, 8, bias=False, add_bias_kv=True, add_zero_attn=True)
        self.self_ = nn.MultiheadAttention(embed_dim=64, num_heads=8, batch_first=True)
        self.flat = nn.MultiheadAttention(64, 2)

    def forward(self, q, k, v, x, mask, mask_per_head, flat=None):
        crossed, _ = self.cross(q, k, v)
        masked, _ = self.cross(q, k, v, attn_mask=mask, need_weights=False)
        plain, _ = self.self_(x, x, x)
        per_head, _ = self.self_(x, x, x, attn_mask=mask_per_head, need_weights=False)
        if flat is None:
            return crossed, masked, plain, per_head
        weighed, weights = self.cross(q, k, v)
        weighed_masked, masked_weights = self.self_(x, x, x, attn_mask=mask_per_head)
        spared, _ = self.spare(q, q, q, need_weights=False)
        flattened, _ = self.flat(flat, flat, flat, need_weights=False)
        return (
            *(crossed, masked, plain, per_head),
            *(weighed, weights, weighed_masked, masked_weights),
            *(spared, flattened),
        )
