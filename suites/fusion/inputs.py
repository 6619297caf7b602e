"""How a converter is told of a model's inputs, and what it tells of the model that takes them.

Inputs in dicts are in the converter's own tests: the pnnx program takes none.
"""

import torch
import torch.nn as nn
import torch.nn.functional as F

from suites.case import Input, case


@case(
    inputs=[
        ((1, 3, 12), Input((4,), "int64")),
        [(1, 3, 12), (12,)],
        ((2, 3), [((2, 3), (3,)), ((3,), (2, 1))]),
    ]
)
class pnnx_fuse_input_unpack(nn.Module):
    """Tuples and lists of tensors, nested, read in any order and not at all."""

    def forward(self, pair, several, nested):
        x, indices = pair
        one, ((_, scale), (_, shift)) = nested
        y = F.relu(x) * several[0] + several[1]
        return y, torch.index_select(y, 2, indices), one * scale, F.gelu(one + shift)


@case(
    inputs=[(1, 4, 12, 10), (11, 6), Input((2, 5), "int64")],
    options={"input": ("image.npy", "table.npy", "indices.npy")},
)
class pnnx_input_npy(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(4, 6, 3, padding=1)

    def forward(self, image, table, indices):
        rows = F.embedding(indices, table)
        image = F.relu(self.conv(image))
        return image, rows, torch.matmul(rows, image.mean((2, 3)).transpose(0, 1))


@case(inputs=[(1, 3, 24, 20), (1, 7, 12)], options={"inputshape": "[1,3,24,20]f32,[1,7,12]f32"})
class pnnx_model_stat(nn.Module):
    """Of every kind of operator that pnnx counts in a way of its own."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, stride=2, bias=False)
        self.norm = nn.GroupNorm(2, 8)
        self.depthwise = nn.Conv2d(8, 8, 3, padding=1, groups=8)
        self.up = nn.ConvTranspose2d(8, 4, 2, stride=2)
        self.lstm = nn.LSTM(12, 10, batch_first=True, bidirectional=True)
        self.layer_norm = nn.LayerNorm(20)
        self.attention = nn.MultiheadAttention(20, 4, batch_first=True)
        self.head = nn.Linear(24, 5)

    def forward(self, x, y):
        x = F.hardswish(self.norm(self.stem(x)))
        x = F.gelu(self.depthwise(x)) * 2 + torch.sqrt(F.relu(x) + 1)
        x = self.up(F.max_pool2d(x, 2))
        y = self.layer_norm(self.lstm(y)[0])
        y = self.attention(y, y, y, need_weights=False)[0]
        pooled = F.adaptive_avg_pool2d(x, 1).flatten(1)
        z = torch.cat((pooled, y.mean(1)), 1)
        return F.log_softmax(self.head(z), 1), F.interpolate(F.avg_pool2d(x, 3), scale_factor=2)
