"""Attention of Longformer."""

import torch.nn as nn
from transformers import LongformerConfig
from transformers.models.longformer.modeling_longformer import LongformerAttention

from suites.case import case


@case(inputs=[(2, 16, 32), (2, 16)])
class transformers_longformer_attention(nn.Module):
    """To a window around each position. The model pads texts to multiples of the window, and
    tells which positions to pass over.
    """

    def __init__(self):
        super().__init__()
        config = LongformerConfig(
            hidden_size=32, num_attention_heads=4, attention_window=[4], num_hidden_layers=1
        )
        self.attention = LongformerAttention(config)

    def forward(self, x, drawn):
        ignored = drawn < 0.2
        return self.attention(
            x,
            attention_mask=ignored.float() * -10000.0,
            is_index_masked=ignored,
            is_global_attn=False,
            output_attentions=True,
        )
