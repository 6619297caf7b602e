"""Attention of DeBERTa."""

import torch
import torch.nn as nn
from transformers import DebertaConfig
from transformers.models.deberta.modeling_deberta import DebertaAttention

from suites.case import case
from suites.transformers.masks import kept


def attention(**settings):
    return DebertaAttention(DebertaConfig(hidden_size=64, max_position_embeddings=12, **settings))


@case(inputs=[(2, 9, 64), (2, 9), (24, 64), (12, 64)])
class transformers_deberta_attention(nn.Module):
    """Content to content alone, with content to position and back, and with heads that talk. The
    encoder gives distances and their embeddings to all of its layers.
    """

    def __init__(self):
        super().__init__()
        self.plain = attention(num_attention_heads=4)
        self.content = attention(num_attention_heads=4, relative_attention=True, pos_att_type="c2p")
        self.both = attention(
            num_attention_heads=8,
            relative_attention=True,
            pos_att_type="c2p|p2c",
            max_relative_positions=6,
            talking_head=True,
        )
        positions = torch.arange(9)
        self.register_buffer("distances", (positions[:, None] - positions)[None])

    def forward(self, x, drawn, far, near):
        keep = kept(drawn)[:, None, None, :]
        mask = keep * keep.squeeze(-2).unsqueeze(-1)
        return (
            *self.plain(x, mask, output_attentions=True),
            self.content(x, mask, relative_pos=self.distances, rel_embeddings=far)[0],
            self.both(x, mask, relative_pos=self.distances, rel_embeddings=near)[0],
        )
