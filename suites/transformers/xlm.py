"""Attention of XLM and of FlauBERT."""

import torch
import torch.nn as nn
from transformers import FlaubertConfig, XLMConfig
from transformers.models.flaubert import modeling_flaubert
from transformers.models.xlm import modeling_xlm

from suites.case import case
from suites.transformers.masks import kept


class SharedCode(nn.Module):
    """To itself, to earlier positions alone, and to other states. Masks are the user's own."""

    def __init__(self, attention, config, heads):
        super().__init__()
        self.plain, self.causal, self.cross = (
            attention(count, 64, config=config) for count in heads
        )

    def forward(self, x, y, drawn):
        keep = kept(drawn)
        positions = torch.arange(9, device=x.device)
        back = positions[None, None, :].repeat(2, 9, 1) <= positions[None, :, None]
        return (
            *self.plain(x, keep, output_attentions=True),
            *self.causal(x, back),
            *self.cross(y, keep, kv=x),
        )


INPUTS = [(2, 9, 64), (2, 5, 64), (2, 9)]


@case(inputs=INPUTS)
class transformers_xlm_attention(SharedCode):
    def __init__(self):
        super().__init__(modeling_xlm.MultiHeadAttention, XLMConfig(), (4, 8, 2))


@case(inputs=INPUTS)
class transformers_flaubert_attention(SharedCode):
    def __init__(self):
        super().__init__(modeling_flaubert.MultiHeadAttention, FlaubertConfig(), (2, 4, 16))
