"""When a conversion by pnnx, which does not tell, counts as one that changed arithmetic."""

from __future__ import annotations

from collections import Counter

import pytest

from suites.pnnx_fusions import changed_arithmetic


def param(*operators: str) -> str:
    """A `.pnnx.param` of these operators: kind, name, how many outputs, if not one, and a param."""
    lines = []
    for operator in operators:
        kind, name, *more = operator.split()
        outputs, some = (more + ["1", "some=1"][len(more) :])[:2]
        lines.append(f"{kind} {name} 1 {outputs} 0 1 {some} #0=(1,3)f32")
    return "\n".join(("7767517", f"{len(operators)} 2", *lines, ""))


SDPA = "aten::scaled_dot_product_attention"
MHA = "nn.MultiheadAttention"


@pytest.mark.parametrize(
    ("traced", "modules", "operators", "changed"),
    [
        ([], [], ["F.relu F.relu_0", "pnnx.Expression pnnx_expr_0"], False),
        (["aten::batch_norm"], ["bn"], ["nn.BatchNorm2d bn"], False),
        (["aten::batch_norm"], [], ["F.batch_norm F.batch_norm_0"], False),
        (["aten::batch_norm"], ["bn"], ["nn.Conv2d convbn2d_0"], True),
        (["aten::batch_norm"] * 2, ["a", "b"], ["nn.Conv2d convbn2d_0", "nn.BatchNorm1d b"], True),
        (["aten::_weight_norm"], [], ["nn.Linear linear_0"], True),
        (["aten::pad"], [], ["F.pad F.pad_0", "nn.Conv2d c 1 padding_mode=zeros"], False),
        (["aten::pad"], ["p"], ["nn.ZeroPad2d p", "nn.Conv2d c 1 padding_mode=zeros"], False),
        (["aten::pad"], ["c"], ["nn.Conv2d c 1 padding_mode=reflect"], False),
        (["aten::pad"], ["c"], ["nn.Conv2d padconv2d_0 1 padding_mode=zeros"], True),
        (["aten::pad"] * 2, ["c"], ["nn.Conv2d padconv2d_0 1 padding_mode=reflect"], True),
        (["aten::layer_norm"], ["ln"], ["nn.LayerNorm ln"], False),
        (["aten::mean", "aten::rsqrt"], [], ["nn.LayerNorm ln_0"], True),
        (["aten::hardswish"], [], ["F.hardswish F.hardswish_0"], False),
        (["aten::hardswish"], [], ["F.hardswish F.hardswish_0", "F.hardswish F.hardswish_1"], True),
        (["aten::softmax"], [], ["F.scaled_dot_product_attention sdpa_0"], True),
        (["aten::softmax"], ["mha"], ["nn.MultiheadAttention mha 2"], False),
        (["aten::softmax"], ["mha"], ["nn.MultiheadAttention mha"], True),
        ([SDPA] * 2, ["mha"], [f"{MHA} mha", f"{MHA} pnnx_unique_0"], False),
        ([SDPA] * 2, ["mha"], [f"{MHA} mha", f"{MHA} attn_ht_0"], True),
        (["aten::_native_multi_head_attention"], ["mha"], [f"{MHA} mha"], False),
    ],
)
def test_folded_and_fused_operators_are_seen(traced, modules, operators, changed):
    assert changed_arithmetic(Counter(traced), set(modules), param(*operators)) is changed
