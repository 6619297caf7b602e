"""Attention of BERT."""

import torch.nn as nn
from transformers import BertConfig
from transformers.models.bert.modeling_bert import BertAttention

from suites.case import case


def attention(implementation, **sizes):
    config = BertConfig(attn_implementation=implementation, **sizes)
    return BertAttention(config)


@case(inputs=[(3, 16, 192), (1, 10, 64), (1, 1, 10, 10)])
class transformers_bert_attention(nn.Module):
    """Written out and by torch's operator, of two sizes, with a mask and without."""

    def __init__(self):
        super().__init__()
        self.plain = attention("eager", hidden_size=192, num_attention_heads=12)
        self.fast = attention("sdpa", hidden_size=192, num_attention_heads=12)
        self.masked = attention("eager", hidden_size=64, num_attention_heads=4)
        self.fast_masked = attention("sdpa", hidden_size=64, num_attention_heads=4)

    def forward(self, x, y, mask):
        return (
            self.plain(x)[0],
            self.fast(x)[0],
            self.masked(y, attention_mask=mask)[0],
            self.fast_masked(y, attention_mask=mask)[0],
        )
