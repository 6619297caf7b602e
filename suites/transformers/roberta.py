"""Attention of RoBERTa and of the others that took BERT's code over."""

from inspect import signature

import torch.nn as nn
from transformers import (
    BertGenerationConfig,
    CamembertConfig,
    ElectraConfig,
    LayoutLMConfig,
    RobertaConfig,
    XLMRobertaConfig,
)
from transformers.models.bert_generation.modeling_bert_generation import BertGenerationAttention
from transformers.models.camembert.modeling_camembert import CamembertAttention
from transformers.models.electra.modeling_electra import ElectraAttention
from transformers.models.layoutlm.modeling_layoutlm import LayoutLMAttention
from transformers.models.roberta.modeling_roberta import RobertaAttention
from transformers.models.xlm_roberta.modeling_xlm_roberta import XLMRobertaAttention

from suites.case import case
from suites.transformers.interface import FIRST, WEIGHTS, past
from suites.transformers.masks import causal, kept, padding
from suites.transformers.version import V5

ENCODERS_MASK = (
    "encoder_attention_mask"
    if "encoder_attention_mask" in signature(RobertaAttention.forward).parameters
    else "attention_mask"
)
"""What the mask of an encoder's states is called: the last of version 4 have one name for both."""


class Encoder(nn.Module):
    """Self-attention, written out and by torch's operator where the version has that.

    `positions` is a kind of position embedding, which only version 4 has, where it is not absolute.
    """

    def __init__(self, configuration, attention, *, heads, positions="absolute", fast=True):
        super().__init__()

        def config(implementation="eager", **flags):
            return configuration(
                attn_implementation=implementation if fast else "eager",
                hidden_size=64,
                num_attention_heads=heads,
                max_position_embeddings=32,
                **flags,
            )

        self.config = config
        self.plain = attention(config())
        self.relative = attention(config(position_embedding_type=positions))
        self.fast = attention(config("sdpa"))

    def forward(self, x, drawn):
        mask = padding(kept(drawn))
        return (
            self.plain(x)[0],
            *self.relative(x, attention_mask=mask, **WEIGHTS),
            self.fast(x, attention_mask=padding(kept(drawn), 9))[0],
        )


class Decoder(Encoder):
    """Attention to earlier positions too, to those of earlier steps, and to an encoder's states."""

    def __init__(self, configuration, attention, **options):
        super().__init__(configuration, attention, **options)
        self_attention = {"is_causal": True, **FIRST} if V5 else FIRST
        cross_attention = {"is_cross_attention": True} if V5 else {}
        self.causal = attention(self.config("sdpa", is_decoder=True), **self_attention)
        self.cross = attention(self.config(is_decoder=True), **cross_attention)
        self.fast_cross = attention(self.config("sdpa", is_decoder=True), **cross_attention)

    def forward(self, x, drawn, y, step, keys, values):
        mask = padding(kept(drawn))
        return (
            *super().forward(x, drawn),
            self.causal(y)[0],
            self.causal(y, attention_mask=causal(y))[0],
            self.causal(step, **past(keys, values))[0],
            self.cross(y, encoder_hidden_states=x, **{ENCODERS_MASK: mask})[0],
            self.fast_cross(y, encoder_hidden_states=x)[0],
        )


ENCODED = [(2, 9, 64), (2, 9)]


def decoded(heads):
    return [*ENCODED, (2, 5, 64), (2, 1, 64), *[(2, heads, 4, 64 // heads)] * 2]


@case(inputs=decoded(4))
class transformers_bert_generation_attention(Decoder):
    def __init__(self):
        super().__init__(BertGenerationConfig, BertGenerationAttention, heads=4, fast=V5)


@case(inputs=decoded(8))
class transformers_camembert_attention(Decoder):
    def __init__(self):
        super().__init__(
            CamembertConfig, CamembertAttention, heads=8, positions="relative_key_query"
        )


@case(inputs=decoded(2))
class transformers_electra_attention(Decoder):
    def __init__(self):
        super().__init__(ElectraConfig, ElectraAttention, heads=2, fast=V5)


@case(inputs=ENCODED)
class transformers_layoutlm_attention(Encoder):
    def __init__(self):
        super().__init__(LayoutLMConfig, LayoutLMAttention, heads=16, fast=V5)


@case(inputs=decoded(4))
class transformers_roberta_attention(Decoder):
    def __init__(self):
        super().__init__(RobertaConfig, RobertaAttention, heads=4, positions="relative_key")


@case(inputs=decoded(1))
class transformers_xlm_roberta_attention(Decoder):
    def __init__(self):
        super().__init__(XLMRobertaConfig, XLMRobertaAttention, heads=1)
