"""Attention of Qwen3."""

from suites.case import case
from suites.transformers.qwen2 import INPUTS, TURNED, Decoder
from suites.transformers.version import modeling

qwen3 = modeling("qwen3")


@case(inputs=INPUTS, ncnn_inputs=TURNED)
class transformers_qwen3_attention(Decoder):
    """As Qwen2's, with norms of queries and keys."""

    def __init__(self):
        super().__init__(
            qwen3.Qwen3Config,
            qwen3.Qwen3Attention,
            qwen3.Qwen3RotaryEmbedding,
            head_dim=16,
            attention_bias=True,
        )
