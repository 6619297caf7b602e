"""Attention of mT5."""

import torch.nn as nn
from transformers import MT5Config
from transformers.models.mt5.modeling_mt5 import MT5LayerCrossAttention, MT5LayerSelfAttention

from suites.case import case
from suites.transformers.interface import WEIGHTS, positions
from suites.transformers.masks import causal, kept, padding
from suites.transformers.version import V5


def config(**settings):
    return MT5Config(attn_implementation="eager", d_model=64, dropout_rate=0.0, **settings)


@case(inputs=[(2, 9, 64), (2, 5, 64), (2, 9)])
class transformers_mt5_attention(nn.Module):
    """With the norm before it and the sum after it. Heads need not share the width among them, and
    later layers add the first one's bias.
    """

    def __init__(self):
        super().__init__()
        few = config(d_kv=16, num_heads=6, relative_attention_num_buckets=8)
        many = config(d_kv=8, num_heads=4, is_decoder=True, relative_attention_max_distance=16)
        self.first = MT5LayerSelfAttention(few, has_relative_attention_bias=True, layer_idx=0)
        self.later = MT5LayerSelfAttention(few, layer_idx=1)
        self.decoder = MT5LayerSelfAttention(many, has_relative_attention_bias=True, layer_idx=0)
        self.cross = MT5LayerCrossAttention(many, layer_idx=0)

    def forward(self, x, y, drawn):
        mask = padding(kept(drawn))
        first = self.first(x, attention_mask=mask, **positions(x), **WEIGHTS)
        bias = first[1] if V5 else first[2]
        return (
            *(value for value in first if value is not None),
            self.later(first[0], attention_mask=mask, position_bias=bias)[0],
            self.decoder(y, attention_mask=causal(y), **positions(y))[0],
            self.cross(y, key_value_states=x, attention_mask=mask, **positions(y))[0],
        )
