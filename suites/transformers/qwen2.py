"""Attention of Qwen2."""

import torch.nn as nn
from transformers import Qwen2Config
from transformers.models.qwen2.modeling_qwen2 import Qwen2Attention, Qwen2RotaryEmbedding

from suites.case import Input, case
from suites.transformers.interface import cached
from suites.transformers.masks import causal, kept, padding

LONGER = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16}
"""How a model is made to read texts longer than those that it was trained on."""


class Decoder(nn.Module):
    """With a pair of key and value for two queries, and with one for all."""

    def __init__(self, configuration, attention, embedding, **settings):
        super().__init__()

        def make(implementation, key_heads, **more):
            config = configuration(
                attn_implementation=implementation,
                hidden_size=64,
                num_hidden_layers=1,
                num_attention_heads=4,
                num_key_value_heads=key_heads,
                max_position_embeddings=64,
                **settings,
                **more,
            )
            return embedding(config=config), attention(config, layer_idx=0)

        self.rotary, self.plain = make("eager", 2)
        self.longer, self.fast = make("sdpa", 2, rope_scaling=LONGER)
        _, self.single = make("sdpa", 1)

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
        keys=None,
        values=None,
    ):
        turned = (
            self.plain(x, (cos, sin), None)[0],
            self.plain(x, (cos, sin), mask)[0],
            self.fast(x, (cos, sin), mask)[0],
            self.single(x, (cos, sin), mask)[0],
        )
        if positions is None:
            return turned
        back = causal(x)
        turns = self.rotary(x, positions)
        return (
            *turned,
            *self.plain(x, turns, back)[:2],
            self.single(x, turns, back + padding(kept(drawn)))[0],
            self.fast(x, self.longer(x, positions), None)[0],
            self.fast(step, self.longer(step, position), None, **cached(keys, values))[0],
        )


INPUTS = [
    *((2, 9, 64), (2, 9, 16), (2, 9, 16), (2, 1, 9, 9), Input((2, 9), "int64"), (2, 9)),
    *((2, 1, 64), Input((2, 1), "int64"), (2, 2, 4, 16), (2, 2, 4, 16)),
]
TURNED = [(1, 9, 64), (1, 9, 16), (1, 9, 16), (1, 1, 9, 9)]
"""For ncnn a text, the cosines and sines of its positions and a mask, which others work out."""


@case(inputs=INPUTS, ncnn_inputs=TURNED)
class transformers_qwen2_attention(Decoder):
    def __init__(self):
        super().__init__(Qwen2Config, Qwen2Attention, Qwen2RotaryEmbedding)
