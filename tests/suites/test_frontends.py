"""When a conversion by pnnx, which does not tell, counts as one that changed arithmetic."""

from __future__ import annotations

from collections import Counter

import pytest

from suites.frontends import changed_arithmetic


def param(*operators: str) -> str:
    """A `.pnnx.param` of these operators."""
    lines = (f"{operator} 1 1 0 1 some=1 #0=(1,3)f32" for operator in operators)
    return "\n".join(("7767517", f"{len(operators)} 2", *lines, ""))


@pytest.mark.parametrize(
    ("traced", "modules", "operators", "changed"),
    [
        ([], [], ["F.relu F.relu_0", "pnnx.Expression pnnx_expr_0"], False),
        (["aten::batch_norm"], ["bn"], ["nn.BatchNorm2d bn"], False),
        (["aten::batch_norm"], [], ["F.batch_norm F.batch_norm_0"], False),
        (["aten::batch_norm"], ["bn"], ["nn.Conv2d convbn2d_0"], True),
        (["aten::batch_norm"] * 2, ["a", "b"], ["nn.Conv2d convbn2d_0", "nn.BatchNorm1d b"], True),
        (["aten::_weight_norm"], [], ["nn.Linear linear_0"], True),
        (["aten::layer_norm"], ["ln"], ["nn.LayerNorm ln"], False),
        (["aten::mean", "aten::rsqrt"], [], ["nn.LayerNorm ln_0"], True),
        (["aten::hardswish"], [], ["F.hardswish F.hardswish_0"], False),
        (["aten::hardswish"], [], ["F.hardswish F.hardswish_0", "F.hardswish F.hardswish_1"], True),
        (["aten::softmax"], [], ["F.scaled_dot_product_attention sdpa_0"], True),
        ([], ["mha"], ["nn.MultiheadAttention mha", "nn.MultiheadAttention pnnx_unique_0"], False),
        ([], ["mha"], ["nn.MultiheadAttention mha", "nn.MultiheadAttention attn_ht_0"], True),
    ],
)
def test_folded_and_fused_operators_are_seen(traced, modules, operators, changed):
    assert changed_arithmetic(Counter(traced), set(modules), param(*operators)) is changed
