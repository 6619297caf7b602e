"""Attention of T5."""

import torch.nn as nn
from transformers import T5Config
from transformers.models.t5.modeling_t5 import T5Attention

from suites.case import case
from suites.transformers.interface import positions


def attention(*, biased, decoder=False, **sizes):
    config = T5Config(is_decoder=decoder, **sizes)
    config._attn_implementation = "eager"
    return T5Attention(config, has_relative_attention_bias=biased, layer_idx=0)


@case(inputs=[(3, 16, 192), (1, 10, 64), (1, 1, 10, 10), (1, 14, 64), (1, 4, 10, 10)])
class transformers_t5_attention(nn.Module):
    """With a relative position bias of its own, with one that is given, and with none."""

    def __init__(self):
        super().__init__()
        self.biased = attention(biased=True, d_model=192, d_kv=16, num_heads=12)
        self.causal = attention(biased=True, decoder=True, d_model=64, d_kv=16, num_heads=4)
        self.plain = attention(biased=False, d_model=64, d_kv=16, num_heads=4)

    def forward(self, x, y, mask, encoded, bias):
        return (
            self.biased(x, **positions(x))[0],
            self.causal(y, mask=mask, **positions(y))[0],
            self.plain(y, position_bias=bias)[0],
            self.plain(y, key_value_states=encoded, **positions(y))[0],
        )
