"""Attention of FSMT."""

import torch
import torch.nn as nn
from transformers import FSMTConfig
from transformers.models.fsmt.modeling_fsmt import DecoderLayer, EncoderLayer

from suites.case import case


def config(heads):
    return FSMTConfig(
        d_model=64,
        encoder_attention_heads=heads,
        decoder_attention_heads=heads,
        encoder_ffn_dim=8,
        decoder_ffn_dim=8,
    )


@case(inputs=[(9, 2, 64), (5, 2, 64), (2, 9)])
class transformers_fsmt_attention(nn.Module):
    """Of an encoder and a decoder. Positions come before the batch; padding is marked, not kept."""

    def __init__(self):
        super().__init__()
        self.encoder = EncoderLayer(config(heads=4)).self_attn
        decoder = DecoderLayer(config(heads=8))
        self.decoder, self.cross = decoder.self_attn, decoder.encoder_attn

    def forward(self, x, y, drawn):
        ignored = drawn < 0.2
        ahead = y.new_full((5, 5), torch.finfo(torch.float32).min).triu(1)
        return (
            self.encoder(query=x, key=x)[0],
            *self.encoder(query=x, key=x, key_padding_mask=ignored, output_attentions=True),
            self.decoder(query=y, key=y, attn_mask=ahead)[0],
            self.cross(query=y, key=x)[0],
            *self.cross(query=y, key=x, key_padding_mask=ignored, output_attentions=True),
        )
