"""Attention of LXMERT."""

import torch.nn as nn
from transformers import LxmertConfig
from transformers.models.lxmert.modeling_lxmert import (
    LxmertCrossAttentionLayer,
    LxmertSelfAttentionLayer,
)

from suites.case import case
from suites.transformers.masks import kept, padding


def config(heads):
    return LxmertConfig(hidden_size=64, num_attention_heads=heads)


@case(inputs=[(2, 9, 64), (2, 12, 64), (2, 9)])
class transformers_lxmert_attention(nn.Module):
    """Of text and image to themselves and to each other; only text is padded."""

    def __init__(self):
        super().__init__()
        self.text = LxmertSelfAttentionLayer(config(heads=4))
        self.image = LxmertSelfAttentionLayer(config(heads=8))
        self.cross = LxmertCrossAttentionLayer(config(heads=2))

    def forward(self, text, image, drawn):
        mask = padding(kept(drawn))
        return (
            *self.text(text, mask, output_attentions=True),
            *self.image(image, None),
            *self.cross(text, image, None, output_attentions=True),
            *self.cross(image, text, mask),
        )
