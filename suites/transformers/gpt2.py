"""Attention of GPT-2."""

import torch.nn as nn
from transformers import GPT2Config
from transformers.models.gpt2.modeling_gpt2 import GPT2Attention

from suites.case import case


def attention(implementation, *, cross=False, **sizes):
    config = GPT2Config(attn_implementation=implementation, **sizes)
    return GPT2Attention(config, is_cross_attention=cross, layer_idx=1)


@case(inputs=[(3, 16, 192), (1, 10, 64), (1, 1, 10, 10), (1, 14, 64)])
class transformers_gpt2_attention(nn.Module):
    """Written out and by torch's operator, with a mask and without, and to an encoder's states."""

    def __init__(self):
        super().__init__()
        self.plain = attention("eager", n_embd=192, n_head=12, n_positions=32)
        self.fast = attention("sdpa", n_embd=192, n_head=12, n_positions=32)
        self.masked = attention("eager", n_embd=64, n_head=4, n_positions=32)
        self.fast_masked = attention("sdpa", n_embd=64, n_head=4, n_positions=32)
        self.cross = attention("eager", n_embd=64, n_head=4, n_positions=32, cross=True)

    def forward(self, x, y, mask, encoded):
        return (
            self.plain(x)[0],
            self.fast(x)[0],
            self.masked(y, attention_mask=mask)[0],
            self.fast_masked(y, attention_mask=mask)[0],
            self.cross(y, encoder_hidden_states=encoded)[0],
        )
