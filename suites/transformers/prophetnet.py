"""Attention of ProphetNet."""

import torch
import torch.nn as nn
from transformers import ProphetNetConfig
from transformers.models.prophetnet.modeling_prophetnet import (
    ProphetNetDecoderLayer,
    ProphetNetEncoderLayer,
    compute_all_stream_relative_buckets,
    ngram_attention_bias,
)

from suites.case import case
from suites.transformers.masks import causal, kept, padding


@case(inputs=[(2, 16, 32), (2, 48, 32), (2, 16)])
class transformers_prophetnet_attention(nn.Module):
    """Of an encoder, of a decoder that predicts two tokens ahead in streams of their own, after the
    main one, and of those to the encoder. The decoder makes distances and masks for all layers.
    """

    def __init__(self):
        super().__init__()
        config = ProphetNetConfig(
            hidden_size=32,
            num_encoder_attention_heads=2,
            num_decoder_attention_heads=4,
            encoder_ffn_dim=8,
            decoder_ffn_dim=8,
            ngram=2,
            num_buckets=8,
            relative_max_distance=16,
        )
        self.encoder = ProphetNetEncoderLayer(config).self_attn
        decoder = ProphetNetDecoderLayer(config)
        self.decoder, self.cross = decoder.self_attn, decoder.cross_attn
        main, predicted = compute_all_stream_relative_buckets(8, 16, torch.arange(16)[None])
        self.register_buffer("main", main.repeat(2, 1, 1))
        self.register_buffer("predicted", predicted.repeat(2, 1, 1))
        bias = ngram_attention_bias(16, 2, torch.device("cpu"), torch.float32)
        self.register_buffer("ahead", bias[None, None].expand(2, 4, 2, 16, 32))

    def forward(self, x, streams, drawn):
        keep = kept(drawn)
        own = {
            "main_relative_position_buckets": self.main,
            "predict_relative_position_buckets": self.predicted,
        }
        return (
            self.encoder(x)[0],
            *self.encoder(
                x, attention_mask=padding(keep).repeat(1, 2, 1, 1), output_attentions=True
            )[:2],
            *self.decoder(
                streams,
                attention_mask=causal(streams[:, :16]).expand(2, 4, 16, 16),
                extended_predict_attention_mask=self.ahead,
                **own,
            )[:3],
            self.decoder(streams, **own)[0],
            self.cross(
                streams, key_value_states=x, attention_mask=padding(keep).repeat(1, 4, 1, 1)
            )[0],
        )
