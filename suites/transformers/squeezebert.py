"""Attention of SqueezeBERT."""

import torch
import torch.nn as nn
from transformers import SqueezeBertConfig
from transformers.models.squeezebert.modeling_squeezebert import SqueezeBertSelfAttention

from suites.case import case
from suites.transformers.masks import kept, padding


def attention(groups, *, heads=4):
    query, key, value = groups
    config = SqueezeBertConfig(num_attention_heads=heads)
    return SqueezeBertSelfAttention(config, 64, q_groups=query, k_groups=key, v_groups=value)


@case(inputs=[(2, 64, 9), (2, 9)])
class transformers_squeezebert_attention(nn.Module):
    """Projections by grouped 1x1 convolutions; channels come before positions. Without padding the
    model makes a mask of zeros.
    """

    def __init__(self):
        super().__init__()
        self.grouped = attention((4, 4, 4))
        self.masked = attention((4, 2, 1), heads=8)

    def forward(self, x, drawn):
        plain = self.grouped(x, padding(torch.ones_like(drawn)), True)
        masked = self.masked(x, padding(kept(drawn)), False)
        return plain["context_layer"], plain["attention_score"], masked["context_layer"]
