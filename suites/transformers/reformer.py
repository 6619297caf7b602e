"""Attention of Reformer."""

import torch.nn as nn
from transformers import ReformerConfig
from transformers.models.reformer.modeling_reformer import ReformerAttention

from suites.case import case
from suites.transformers.masks import kept


def attention(kind, **settings):
    config = ReformerConfig(
        attn_layers=[kind],
        hidden_size=32,
        num_attention_heads=2,
        attention_head_size=16,
        lsh_attn_chunk_length=4,
        local_attn_chunk_length=4,
        **settings,
    )
    return ReformerAttention(config)


@case(inputs=[(2, 16, 32), (2, 4, 32), (2, 16)])
class transformers_reformer_attention(nn.Module):
    """Within chunks of neighbours, and within chunks of what random rotations hash alike; texts as
    short as a chunk are not split.
    """

    def __init__(self):
        super().__init__()
        self.local = attention("local", local_num_chunks_before=1, local_num_chunks_after=1)
        self.causal = attention("local", is_decoder=True)
        self.hashed = attention("lsh", num_buckets=[2, 4], num_hashes=2, is_decoder=True)

    def forward(self, x, short, drawn):
        keep = kept(drawn)
        return (
            self.local(x, attention_mask=keep, output_attentions=True)[:2],
            self.causal(x)[0],
            self.hashed(short)[0],
            self.hashed(x)[0],
        )
