"""Attention of DistilBERT."""

import torch.nn as nn
from transformers import DistilBertConfig
from transformers.models.distilbert.modeling_distilbert import TransformerBlock

from suites.case import case
from suites.transformers.interface import WEIGHTS
from suites.transformers.masks import kept, padding
from suites.transformers.version import V5


def attention(implementation="eager", **sizes):
    """Of a layer, which chooses the class in version 4."""
    config = DistilBertConfig(attn_implementation=implementation, hidden_dim=8, **sizes)
    return TransformerBlock(config).attention


@case(inputs=[(3, 16, 96), (2, 9, 64), (2, 9)])
class transformers_distilbert_attention(nn.Module):
    """Of two sizes, with padding and without. Version 4 takes query, key and value, and the user's
    own mask where torch's operator is not used.
    """

    def __init__(self):
        super().__init__()
        self.plain = attention(dim=96, n_heads=6)
        self.fast = attention("sdpa", dim=96, n_heads=6)
        self.masked = attention(dim=64, n_heads=4)
        self.fast_masked = attention("sdpa", dim=64, n_heads=4)

    def forward(self, x, y, drawn):
        keep = kept(drawn)
        mask = padding(keep, 9)
        if V5:
            return (
                self.plain(x)[0],
                self.fast(x)[0],
                *self.masked(y, attention_mask=mask),
                self.fast_masked(y, attention_mask=mask)[0],
            )
        return (
            self.plain(x, x, x, x.new_ones(3, 16))[0],
            self.fast(x, x, x, None)[0],
            *self.masked(y, y, y, keep, **WEIGHTS),
            self.fast_masked(y, y, y, mask)[0],
        )
