"""Attention of CLIP and of Chinese CLIP."""

import torch.nn as nn
from transformers import (
    ChineseCLIPTextConfig,
    ChineseCLIPVisionConfig,
    CLIPTextConfig,
    CLIPVisionConfig,
)
from transformers.models.chinese_clip.modeling_chinese_clip import (
    ChineseCLIPTextAttention,
    ChineseCLIPVisionAttention,
)
from transformers.models.clip.modeling_clip import CLIPEncoderLayer

from suites.case import case
from suites.transformers.interface import WEIGHTS
from suites.transformers.masks import causal, kept, padding
from suites.transformers.version import V5


def attention(configuration, implementation="eager", *, heads):
    """Of a layer, which chooses the class in version 4."""
    config = configuration(
        attn_implementation=implementation,
        hidden_size=64,
        intermediate_size=8,
        num_attention_heads=heads,
    )
    return CLIPEncoderLayer(config).self_attn


@case(inputs=[(2, 17, 64), (2, 7, 64), (2, 7)])
class transformers_clip_attention(nn.Module):
    """Images look everywhere, text looks back. Version 5 adds the two masks before the layers."""

    def __init__(self):
        super().__init__()
        self.image = attention(CLIPVisionConfig, heads=4)
        self.fast_image = attention(CLIPVisionConfig, "sdpa", heads=8)
        self.text = attention(CLIPTextConfig, heads=2)
        self.fast_text = attention(CLIPTextConfig, "sdpa", heads=4)

    def forward(self, image, text, drawn):
        back = causal(text)
        mask = padding(kept(drawn), 7)
        if V5:
            alone, padded = {"attention_mask": back}, {"attention_mask": back + mask}
            flagged = {"is_causal": True}
        else:
            alone = flagged = {"causal_attention_mask": back}
            padded = {"causal_attention_mask": back, "attention_mask": mask}
        return (
            self.image(image)[0],
            self.fast_image(image)[0],
            *self.text(text, **alone, **WEIGHTS),
            self.text(text, **padded)[0],
            self.fast_text(text, **flagged)[0],
            self.fast_text(text, **padded)[0],
        )


def text_attention(implementation="eager", **settings):
    return ChineseCLIPTextAttention(
        ChineseCLIPTextConfig(
            attn_implementation=implementation if V5 else "eager",
            hidden_size=64,
            max_position_embeddings=32,
            **settings,
        )
    )


def image_attention(implementation="eager", **settings):
    return ChineseCLIPVisionAttention(
        ChineseCLIPVisionConfig(attn_implementation=implementation, hidden_size=64, **settings)
    )


@case(inputs=[(2, 17, 64), (2, 7, 64), (2, 7)])
class transformers_chinese_clip_attention(nn.Module):
    """Text is encoded by a BERT, whose attention is one tensor in version 5."""

    def __init__(self):
        super().__init__()
        self.image = image_attention(num_attention_heads=4)
        self.fast_image = image_attention("sdpa", num_attention_heads=8)
        self.text = text_attention(num_attention_heads=2, position_embedding_type="relative_key")
        self.fast_text = text_attention("sdpa", num_attention_heads=4)

    def forward(self, image, text, drawn):
        keep = kept(drawn)
        texts = (
            self.text(text, padding(keep)),
            self.fast_text(text),
            self.fast_text(text, padding(keep, 7)),
        )
        return (
            *self.image(image, **WEIGHTS),
            self.fast_image(image)[0],
            *(text if V5 else text[0] for text in texts),
        )
