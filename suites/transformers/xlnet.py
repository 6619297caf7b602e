"""Attention of XLNet."""

import torch
import torch.nn as nn
from transformers import XLNetConfig
from transformers.models.xlnet.modeling_xlnet import XLNetRelativeAttention

from suites.case import Input, case


@case(
    inputs=[
        *((5, 2, 32), (10, 2, 32), (3, 2, 32), (13, 2, 32)),
        *(Input((5, 2), "int64"), (5, 8, 2), (4, 2, 32), (4, 5, 2)),
    ]
)
class transformers_xlnet_attention(nn.Module):
    """Of one stream and of two, with states of an earlier text, segments, masks and targets.
    Positions come before the batch.
    """

    def __init__(self):
        super().__init__()
        self.single = XLNetRelativeAttention(XLNetConfig(d_model=32, n_head=1))
        self.attention = XLNetRelativeAttention(XLNetConfig(d_model=32, n_head=4))
        for parameter in self.parameters():
            nn.init.normal_(parameter, std=0.2)  # they come without values

    def forward(self, x, relative, memory, longer, segments, drawn, query, mapping):
        known = torch.cat([segments.new_zeros(3, 2), segments])
        differs = (segments[:, None] != known[None, :]).float()
        differs = torch.stack([1 - differs, differs], dim=-1)
        query_mask = (drawn > 0.7)[..., None].float()
        own = torch.cat([x.new_zeros(5, 3), -torch.eye(5, device=x.device)], dim=-1)
        mask = ((query_mask + own[:, :, None, None]) > 0).float()
        output, _, weights = self.single(
            x, None, mask, None, longer, differs, mems=memory, output_attentions=True
        )
        return (
            output,
            weights,
            *self.single(x, query, mask, query_mask, longer, differs, memory, mapping),
            self.attention(x, None, None, None, relative, None)[0],
            *self.attention(x, query, mask, query_mask, longer, differs, memory, mapping),
        )
