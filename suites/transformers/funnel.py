"""Attention of the Funnel Transformer."""

import torch.nn as nn
from transformers import FunnelConfig
from transformers.models.funnel.modeling_funnel import (
    FunnelAttentionStructure,
    FunnelRelMultiheadAttention,
)

from suites.case import Input, case
from suites.transformers.masks import kept


class Attention(nn.Module):
    """Attention of the first block and of the second, whose queries are fewer than its keys."""

    def __init__(self, **settings):
        super().__init__()
        config = FunnelConfig(d_model=32, d_head=8, block_sizes=[1, 1], **settings)
        self.structure = FunnelAttentionStructure(config)
        self.whole = FunnelRelMultiheadAttention(config, block_index=0)
        self.pooled = FunnelRelMultiheadAttention(config, block_index=1)
        for parameter in self.parameters():
            nn.init.normal_(parameter, std=0.2)  # biases and kernels come as zeros

    def forward(self, x, pooled, positions, mask=None, segments=None):
        cls = nn.functional.pad(x.new_ones(7, 7), (1, 0, 1, 0))
        if segments is not None:
            segments = self.structure.token_type_ids_to_mat(segments)
        inputs = (positions, segments, mask, cls)
        self.structure.pooling_mult = 1
        _, fewer = self.structure.pre_attention_pooling(x, inputs)
        return (
            *self.whole(x, x, x, inputs, output_attentions=True),
            *self.pooled(pooled, x, x, fewer),
        )


@case(
    inputs=[
        *((2, 8, 32), (2, 4, 32), (2, 8), Input((2, 8), "int64")),
        *((16, 32), (16, 32), (4, 8, 32)),
    ]
)
class transformers_funnel_attention(nn.Module):
    """With positions by relative shift, masks and segments, and with factorized positions."""

    def __init__(self):
        super().__init__()
        self.shifted = Attention(n_head=4)
        self.factorized = Attention(n_head=2, attention_type="factorized")

    def forward(self, x, pooled, drawn, segments, near, far, factors):
        return (
            *self.shifted(x, pooled, [[near, None], [None, far]], kept(drawn), segments),
            *self.factorized(x, pooled, factors.unbind()),
        )
