"""Attention of BART and of the models that took its code over."""

import torch.nn as nn
from transformers import (
    BartConfig,
    BlenderbotConfig,
    M2M100Config,
    MarianConfig,
    MBartConfig,
    PegasusConfig,
)
from transformers.models.bart.modeling_bart import BartDecoderLayer, BartEncoderLayer
from transformers.models.blenderbot.modeling_blenderbot import (
    BlenderbotDecoderLayer,
    BlenderbotEncoderLayer,
)
from transformers.models.m2m_100.modeling_m2m_100 import M2M100DecoderLayer, M2M100EncoderLayer
from transformers.models.marian.modeling_marian import MarianDecoderLayer, MarianEncoderLayer
from transformers.models.mbart.modeling_mbart import MBartDecoderLayer, MBartEncoderLayer
from transformers.models.pegasus.modeling_pegasus import PegasusDecoderLayer, PegasusEncoderLayer

from suites.case import case
from suites.transformers.interface import FIRST, WEIGHTS, past
from suites.transformers.masks import causal, kept, padding
from suites.transformers.version import V5


class EncoderDecoder(nn.Module):
    """The attention modules of an encoder's and a decoder's layer: written out, and by torch's
    operator where the version has that for the model.
    """

    def __init__(self, configuration, encoder_layer, decoder_layer, *, heads, fast=True):
        super().__init__()
        encoder_heads, decoder_heads = heads
        configs = [
            configuration(
                attn_implementation=implementation,
                d_model=64,
                encoder_attention_heads=encoder_heads,
                decoder_attention_heads=decoder_heads,
                encoder_ffn_dim=8,
                decoder_ffn_dim=8,
            )
            for implementation in ("eager", "sdpa" if fast else "eager")
        ]
        self.encoder, self.fast_encoder = (encoder_layer(config).self_attn for config in configs)
        decoders = [decoder_layer(config, **FIRST) for config in configs]
        self.decoder, self.fast_decoder = (layer.self_attn for layer in decoders)
        self.cross, self.fast_cross = (layer.encoder_attn for layer in decoders)

    def forward(self, x, y, drawn, step, keys, values):
        """`x` goes into the encoder, `y` into the decoder, `step` into a later step of that."""
        keep = kept(drawn)
        return (
            self.encoder(x)[0],
            self.fast_encoder(x, attention_mask=padding(keep, 32))[0],
            *self.decoder(y, attention_mask=causal(y), **WEIGHTS)[:2],
            self.fast_decoder(y)[0],
            self.fast_decoder(step, **past(keys, values))[0],
            self.cross(y, key_value_states=x, attention_mask=padding(keep, 16))[0],
            self.fast_cross(y, key_value_states=x)[0],
        )


def inputs(decoder_heads):
    past_shape = (2, decoder_heads, 4, 64 // decoder_heads)
    return [(2, 32, 64), (2, 16, 64), (2, 32), (2, 1, 64), past_shape, past_shape]


@case(inputs=inputs(8))
class transformers_bart_attention(EncoderDecoder):
    def __init__(self):
        super().__init__(BartConfig, BartEncoderLayer, BartDecoderLayer, heads=(4, 8))


@case(inputs=inputs(4))
class transformers_blenderbot_attention(EncoderDecoder):
    def __init__(self):
        super().__init__(
            BlenderbotConfig, BlenderbotEncoderLayer, BlenderbotDecoderLayer, heads=(4, 4), fast=V5
        )


@case(inputs=inputs(4))
class transformers_m2m_100_attention(EncoderDecoder):
    def __init__(self):
        super().__init__(M2M100Config, M2M100EncoderLayer, M2M100DecoderLayer, heads=(8, 4))


@case(inputs=inputs(2))
class transformers_marian_attention(EncoderDecoder):
    def __init__(self):
        super().__init__(
            MarianConfig, MarianEncoderLayer, MarianDecoderLayer, heads=(2, 2), fast=V5
        )


@case(inputs=inputs(16))
class transformers_mbart_attention(EncoderDecoder):
    def __init__(self):
        super().__init__(MBartConfig, MBartEncoderLayer, MBartDecoderLayer, heads=(8, 16))


@case(inputs=inputs(1))
class transformers_pegasus_attention(EncoderDecoder):
    def __init__(self):
        super().__init__(
            PegasusConfig, PegasusEncoderLayer, PegasusDecoderLayer, heads=(1, 1), fast=V5
        )
