"""Attention of Qwen3."""

from transformers import Qwen3Config
from transformers.models.qwen3.modeling_qwen3 import Qwen3Attention, Qwen3RotaryEmbedding

from suites.case import case
from suites.transformers.qwen2 import INPUTS, Decoder


@case(inputs=INPUTS, needs=("transformers>=4.51",))
class transformers_qwen3_attention(Decoder):
    """As Qwen2's, with norms of queries and keys."""

    def __init__(self):
        super().__init__(
            Qwen3Config, Qwen3Attention, Qwen3RotaryEmbedding, head_dim=16, attention_bias=True
        )
