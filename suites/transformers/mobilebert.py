"""Attention of MobileBERT."""

import torch.nn as nn
from transformers import MobileBertConfig
from transformers.models.mobilebert.modeling_mobilebert import MobileBertLayer

from suites.case import case
from suites.transformers.interface import WEIGHTS
from suites.transformers.masks import kept, padding


class Attention(nn.Module):
    """A layer's attention with the bottleneck before it, which makes queries, keys and values."""

    def __init__(self, implementation="eager", **settings):
        super().__init__()
        config = MobileBertConfig(
            attn_implementation=implementation,
            hidden_size=64,
            intra_bottleneck_size=32,
            intermediate_size=8,
            **settings,
        )
        layer = MobileBertLayer(config)
        self.bottleneck = layer.bottleneck if config.use_bottleneck else None
        self.attention = layer.attention

    def forward(self, x, mask=None):
        query, key, value, residual = self.bottleneck(x) if self.bottleneck else [x] * 4
        return self.attention(query, key, value, residual, mask, **WEIGHTS)


@case(inputs=[(2, 9, 64), (2, 9)])
class transformers_mobilebert_attention(nn.Module):
    """Each kind of bottleneck, each kind of normalization, with a mask and without."""

    def __init__(self):
        super().__init__()
        self.shared = Attention(num_attention_heads=4)
        self.own = Attention(num_attention_heads=8, use_bottleneck_attention=True)
        self.separate = Attention(
            "sdpa",
            num_attention_heads=2,
            key_query_shared_bottleneck=False,
            use_bottleneck_attention=True,
        )
        self.none = Attention(
            num_attention_heads=4, use_bottleneck=False, normalization_type="layer_norm"
        )

    def forward(self, x, drawn):
        mask = padding(kept(drawn), 9)
        return (
            *self.shared(x, mask),
            self.own(x)[0],
            self.separate(x, mask)[0],
            self.none(x)[0],
        )
