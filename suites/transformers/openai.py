"""Attention of OpenAI's first GPT."""

import torch.nn as nn
from transformers import OpenAIGPTConfig
from transformers.models.openai.modeling_openai import Attention

from suites.case import case
from suites.transformers.masks import kept, padding


def attention(heads, *, scale):
    return Attention(64, 16, OpenAIGPTConfig(n_embd=64, n_head=heads), scale=scale)


@case(inputs=[(2, 9, 64), (2, 16, 64), (2, 9)])
class transformers_openai_attention(nn.Module):
    """To earlier positions by a stored mask, of which shorter texts use a corner."""

    def __init__(self):
        super().__init__()
        self.scaled = attention(heads=4, scale=True)
        self.plain = attention(heads=8, scale=False)

    def forward(self, x, longest, drawn):
        return (
            *self.scaled(x, output_attentions=True),
            *self.scaled(x, attention_mask=padding(kept(drawn))),
            *self.plain(longest),
        )
