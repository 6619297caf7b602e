"""Attention of ALBERT."""

import torch.nn as nn
from transformers import AlbertConfig
from transformers.models.albert.modeling_albert import AlbertLayer

from suites.case import case
from suites.transformers.interface import WEIGHTS
from suites.transformers.masks import kept, padding


def attention(implementation="eager", **settings):
    """Of a layer, which chooses the class in version 4."""
    config = AlbertConfig(
        attn_implementation=implementation,
        intermediate_size=8,
        max_position_embeddings=32,
        **settings,
    )
    return AlbertLayer(config).attention


@case(inputs=[(3, 16, 96), (2, 9, 64), (2, 9)])
class transformers_albert_attention(nn.Module):
    """Of two sizes, with a mask and without; version 4 has relative positions too."""

    def __init__(self):
        super().__init__()
        self.plain = attention(hidden_size=96, num_attention_heads=6)
        self.fast = attention("sdpa", hidden_size=96, num_attention_heads=6)
        self.relative = attention(
            hidden_size=64, num_attention_heads=4, position_embedding_type="relative_key_query"
        )
        self.fast_masked = attention("sdpa", hidden_size=64, num_attention_heads=4)

    def forward(self, x, y, drawn):
        keep = kept(drawn)
        return (
            self.plain(x)[0],
            self.fast(x)[0],
            *self.relative(y, attention_mask=padding(keep), **WEIGHTS),
            self.fast_masked(y, attention_mask=padding(keep, 9))[0],
        )
