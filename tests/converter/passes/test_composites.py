"""Functions that PyTorch composes of others: recognized as it composes them, and only so."""

from __future__ import annotations

import pytest
from graphs import assert_becomes, assert_stays, graph

from converter.passes.base import Pass
from converter.passes.composites import (
    LocalResponseNorm,
    LocalResponseNorm1d,
    LPPool,
    Normalize,
    Softmin,
    Softsign,
    Tanhshrink,
)

X = "pnnx.Input in 0 1 x #x=(2,6,4,5)f32"

SOFTMIN = """
    pnnx.Expression n 1 1 x a expr=neg(@0)
    F.softmax       s 1 1 a y dim=1
"""
SOFTSIGN = """
    pnnx.Expression a 1 1 x a expr=abs(@0)
    pnnx.Expression b 1 1 a b expr=add(@0,1)
    pnnx.Expression d 2 1 x b y expr=div(@0,@1)
"""
TANHSHRINK = """
    F.tanh          t 1 1 x a
    pnnx.Expression s 2 1 x a y expr=sub(@0,@1)
"""
NORMALIZE = """
    torch.norm       n 1 1 x a p=2 dim=(1) keepdim=True
    torch.clamp      c 1 1 a b min=1e-12 max=None
    Tensor.expand_as e 2 1 b x c
    pnnx.Expression  d 2 1 x c y expr=div(@0,@1)
"""
RESPONSE = """
    pnnx.Expression s 1 1 x a expr=mul(@0,@0)
    Tensor.reshape  r 1 1 a b shape=(2,1,6,4,5)
    F.pad           p 1 1 b c mode=constant pad=(0,0,0,0,2,1) value=None
    F.avg_pool3d    q 1 1 c d kernel_size=(4,1,1) stride=(1,1,1) padding=(0,0,0) ceil_mode=False count_include_pad=True divisor_override=None
    torch.squeeze   t 1 1 d e dim=1
    Tensor.reshape  u 1 1 e f shape=(2,6,4,5)
    pnnx.Expression g 1 1 f g expr=mul(@0,0.0001)
    pnnx.Expression h 1 1 g h expr=add(@0,1.0)
    pnnx.Expression i 1 1 h i expr=pow(@0,0.75)
    pnnx.Expression j 2 1 x i y expr=div(@0,@1)
"""  # noqa: E501
RESPONSE_OF_THREE_DIMS = """
    pnnx.Expression s 1 1 x a expr=mul(@0,@0)
    torch.unsqueeze r 1 1 a b dim=1
    F.pad           p 1 1 b c mode=constant pad=(0,0,2,2) value=None
    F.avg_pool2d    q 1 1 c d kernel_size=(5,1) stride=(1,1) padding=(0,0) ceil_mode=False count_include_pad=True divisor_override=None
    torch.squeeze   t 1 1 d e dim=1
    pnnx.Expression g 1 1 e g expr=mul(@0,0.0001)
    pnnx.Expression h 1 1 g h expr=add(@0,1.0)
    pnnx.Expression i 1 1 h i expr=pow(@0,0.75)
    pnnx.Expression j 2 1 x i y expr=div(@0,@1)
"""  # noqa: E501
LP_POOL = """
    pnnx.Expression p 1 1 x a expr=pow(@0,3)
    F.avg_pool2d    q 1 1 a b kernel_size=(2,3) stride=(1,2) padding=(0,0) ceil_mode=True count_include_pad=True divisor_override=None
    pnnx.Expression s 1 1 b c expr=sign(@0)
    pnnx.Expression t 1 1 b d expr=abs(@0)
    F.relu          r 1 1 d e
    pnnx.Expression m 2 1 c e f expr=mul(@0,@1)
    pnnx.Expression n 1 1 f g expr=mul(@0,6)
    pnnx.Expression o 1 1 g y expr=pow(@0,0.3333333333333333)
"""  # noqa: E501

RECOGNIZED = [
    (Softmin(), SOFTMIN, "F.softmin", "dim=1"),
    (Softsign(), SOFTSIGN, "F.softsign", ""),
    (Tanhshrink(), TANHSHRINK, "F.tanhshrink", ""),
    (Normalize(), NORMALIZE, "F.normalize", "dim=1 eps=1e-12 p=2"),
    (LocalResponseNorm(), RESPONSE, "F.local_response_norm", "alpha=0.0001 beta=0.75 k=1.0 size=4"),
    (
        LocalResponseNorm1d(),
        RESPONSE_OF_THREE_DIMS,
        "F.local_response_norm",
        "alpha=0.0001 beta=0.75 k=1.0 size=5",
    ),
    (LPPool(), LP_POOL, "F.lp_pool2d", "ceil_mode=True kernel_size=(2,3) norm_type=3 stride=(1,2)"),
]


@pytest.mark.parametrize(("one", "text", "type", "params"), RECOGNIZED)
def test_composites(one: Pass, text: str, type: str, params: str) -> None:
    assert_becomes(
        one,
        graph(f"{X}\n{text}\npnnx.Output out 1 0 y"),
        f"{X}\n{type} f 1 1 x y {params} $input=x\npnnx.Output out 1 0 y",
    )


@pytest.mark.parametrize(
    ("one", "text", "part", "other"),
    [
        (Softmin(), SOFTMIN, "neg(@0)", "abs(@0)"),
        (Softsign(), SOFTSIGN, "add(@0,1)", "add(@0,2)"),
        (Softsign(), SOFTSIGN, "div(@0,@1)", "div(@1,@0)"),
        (Tanhshrink(), TANHSHRINK, "sub(@0,@1)", "sub(@1,@0)"),
        (Normalize(), NORMALIZE, "keepdim=True", "keepdim=False"),
        (Normalize(), NORMALIZE, "dim=(1)", "dim=None"),
        (Normalize(), NORMALIZE, "max=None", "max=1"),
        (LocalResponseNorm(), RESPONSE, "pad=(0,0,0,0,2,1)", "pad=(0,0,0,0,1,2)"),
        (LocalResponseNorm(), RESPONSE, "value=None", "value=1"),
        (LocalResponseNorm(), RESPONSE, "kernel_size=(4,1,1)", "kernel_size=(4,1,3)"),
        (LocalResponseNorm(), RESPONSE, "shape=(2,1,6,4,5)", "shape=(1,2,6,4,5)"),
        (LocalResponseNorm(), RESPONSE, "pow(@0,0.75)", "mul(@0,0.75)"),
        (LocalResponseNorm1d(), RESPONSE_OF_THREE_DIMS, "pad=(0,0,2,2)", "pad=(2,2,0,0)"),
        (LocalResponseNorm1d(), RESPONSE_OF_THREE_DIMS, "dim=1", "dim=2"),
        (LPPool(), LP_POOL, "mul(@0,6)", "mul(@0,5)"),
        (LPPool(), LP_POOL, "0.3333333333333333", "0.5"),
        (LPPool(), LP_POOL, "padding=(0,0)", "padding=(1,1)"),
        (LPPool(), LP_POOL, "divisor_override=None", "divisor_override=2"),
        (LPPool(), LP_POOL, "pow(@0,3)", "pow(@0,0)"),
    ],
)
def test_what_differs_in_one_place_stays(one: Pass, text: str, part: str, other: str) -> None:
    assert part in text
    assert_stays(one, f"{X}\n{text.replace(part, other, 1)}\npnnx.Output out 1 0 y")


@pytest.mark.parametrize(("one", "text", "type", "params"), RECOGNIZED)
def test_what_is_read_from_within_stays(one: Pass, text: str, type: str, params: str) -> None:
    assert_stays(one, f"{X}\n{text}\npnnx.Output out 2 0 y a")
