"""Attention of CTRL."""

import torch.nn as nn
from transformers import CTRLConfig
from transformers.models.ctrl.modeling_ctrl import MultiHeadAttention

from suites.case import case
from suites.transformers.interface import FIRST
from suites.transformers.masks import causal, kept, padding
from suites.transformers.version import V5


def attention(implementation="eager", *, heads):
    if not V5:
        return MultiHeadAttention(64, heads)
    config = CTRLConfig(attn_implementation=implementation, n_embd=64, n_head=heads)
    return MultiHeadAttention(config, **FIRST)


@case(inputs=[(2, 9, 64), (2, 9)])
class transformers_ctrl_attention(nn.Module):
    """To earlier positions, with padding and without. Version 4 takes a mask of ones too, as wide
    as the longest text, and returns the weights when it is asked.
    """

    def __init__(self):
        super().__init__()
        self.plain = attention(heads=4)
        self.fast = attention("sdpa", heads=16)

    def forward(self, x, drawn):
        mask = padding(kept(drawn))
        if V5:
            return (
                *self.plain(x, x, x, attention_mask=causal(x)),
                self.fast(x, x, x)[0],
                self.fast(x, x, x, attention_mask=causal(x) + mask)[0],
            )
        ahead = x.new_ones(16, 16).triu(1)
        output, *_, weights = self.plain(x, x, x, ahead, output_attentions=True)
        return (
            output,
            weights,
            self.fast(x, x, x, ahead)[0],
            self.fast(x, x, x, ahead, attention_mask=mask)[0],
        )
