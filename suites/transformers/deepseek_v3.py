"""Attention of DeepSeek-V3."""

import torch
import torch.nn as nn

from suites.case import Input, case
from suites.transformers.interface import cached
from suites.transformers.masks import causal, kept, padding
from suites.transformers.version import V5, modeling

deepseek = modeling("deepseek_v3")

LONGER = {
    "rope_type": "yarn",
    "factor": 4.0,
    "original_max_position_embeddings": 16,
    "mscale": 1.0,
    "mscale_all_dim": 1.0,
}
"""How the model is made to read texts longer than those that it was trained on."""


def make(implementation="eager", **settings):
    config = deepseek.DeepseekV3Config(
        attn_implementation=implementation,
        hidden_size=64,
        num_hidden_layers=1,
        num_attention_heads=4,
        num_key_value_heads=4,
        kv_lora_rank=16,
        qk_rope_head_dim=8,
        qk_nope_head_dim=8,
        v_head_dim=12,
        max_position_embeddings=64,
        **settings,
    )
    rotary = deepseek.DeepseekV3RotaryEmbedding(config=config)
    return rotary, deepseek.DeepseekV3Attention(config, layer_idx=0)


@case(
    inputs=[
        *((2, 9, 64), (2, 9, 8), (2, 9, 8), (2, 1, 9, 9), Input((2, 9), "int64"), (2, 9)),
        *((2, 1, 64), Input((2, 1), "int64"), (2, 1, 4, 16), (2, 1, 4, 8)),
    ],
    ncnn_inputs=[(1, 9, 64), (1, 9, 8), (1, 9, 8), (1, 1, 9, 9)],
)
class transformers_deepseek_v3_attention(nn.Module):
    """Keys and values from one latent, which version 5's cache holds; queries from another, or not.

    For ncnn a text, the cosines and sines of its positions and a mask, which others work out; by
    halves, as pnnx's ncnn has no slices with steps.
    """

    def __init__(self):
        super().__init__()
        self.rotary, self.plain = make(q_lora_rank=24)
        _, self.fast = make("sdpa", q_lora_rank=None, rope_interleave=False)
        _, self.halves = make(q_lora_rank=24, rope_interleave=False)
        self.longer, self.scaled = make(q_lora_rank=24, attention_bias=True, rope_scaling=LONGER)

    def past(self, latent, rotated):
        """What the cache holds: version 4 has keys and values of each head in it."""
        if V5:
            return latent, rotated
        value = torch.cat((rotated, latent[..., :4]), -1)
        return latent.expand(-1, 4, -1, -1), value.expand(-1, 4, -1, -1)

    def forward(
        self,
        x,
        cos,
        sin,
        mask,
        positions=None,
        drawn=None,
        step=None,
        position=None,
        latent=None,
        rotated=None,
    ):
        turned = self.halves(x, (cos, sin), None)[0], self.fast(x, (cos, sin), mask)[0]
        if positions is None:
            return turned
        turns = self.rotary(x, positions)
        later = self.longer(step, position)
        return (
            *turned,
            *self.plain(x, turns, causal(x) + padding(kept(drawn))),
            self.fast(x, turns, None)[0],
            self.scaled(step, later, None, **cached(*self.past(latent, rotated)))[0],
        )
