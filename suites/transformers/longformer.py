"""Attention of Longformer."""

import torch.nn as nn
from transformers import LongformerConfig
from transformers.models.longformer.modeling_longformer import LongformerAttention

from suites.case import case


def attention(window, heads):
    config = LongformerConfig(
        hidden_size=32, num_attention_heads=heads, attention_window=[window], num_hidden_layers=1
    )
    return LongformerAttention(config)


@case(inputs=[(2, 16, 32), (2, 16)])
class transformers_longformer_attention(nn.Module):
    """To a window around each position, of several chunks and of one. Lengths are multiples of the
    window, to which the model pads texts.
    """

    def __init__(self):
        super().__init__()
        self.narrow = attention(window=4, heads=4)
        self.wide = attention(window=16, heads=2)

    def forward(self, x, drawn):
        ignored = drawn < 0.2
        options = {
            "attention_mask": ignored.float() * -10000.0,
            "is_index_masked": ignored,
            "is_global_attn": False,
        }
        return (
            *self.narrow(x, output_attentions=True, **options),
            *self.wide(x, **options),
        )
