"""RMS norms and scaled dot products that are spelled out."""

from __future__ import annotations

import numpy as np
import pytest
from graphs import assert_becomes, assert_stays, graph

from converter.passes.fuse_scaled_dot_product import FuseScaledDotProduct
from converter.passes.rms_norm import RMSNorm


def norm(mul: str = "F.relu r 1 1 f y", mean: str = "dim=(-1) keepdim=True") -> str:
    return f"""
    pnnx.Input in 0 1 x #x=(2,3,8)f32
    pnnx.Attribute w 0 1 w @data=(8)f32 #w=(8)f32
    pnnx.Expression p 1 1 x a expr=pow(@0,2) #x=(2,3,8)f32
    torch.mean m 1 1 a b {mean} #a=(2,3,8)f32
    pnnx.Expression e 1 1 b c expr=add(@0,1.000000e-6)
    pnnx.Expression s 1 1 c d expr=rsqrt(@0)
    pnnx.Expression n 2 1 x d f expr=mul(@0,@1) #x=(2,3,8)f32 #f=(2,3,8)f32
    {mul} #y=(2,3,8)f32
    pnnx.Output out 2 0 y w
    """


WEIGHT = {"w.data": np.ones(8, np.float32)}
NORM = "nn.RMSNorm n 1 1 {} {} elementwise_affine={} eps=1.000000e-6 normalized_shape=(8) {}"
AFTER = """
    pnnx.Input in 0 1 x #x=(2,3,8)f32
    pnnx.Attribute w 0 1 w @data=(8)f32 #w=(8)f32
    {}
    pnnx.Output out 2 0 y w
    """


def test_a_norm_without_a_weight():
    expected = NORM.format("x", "f", "False", "") + "\n    F.relu r 1 1 f y"
    assert_becomes(RMSNorm(), graph(norm(), WEIGHT), AFTER.format(expected))


@pytest.mark.parametrize("inputs", ["f w", "w f"])
def test_a_norm_with_a_weight(inputs):
    made = graph(norm(f"pnnx.Expression k 2 1 {inputs} y expr=mul(@0,@1)"), WEIGHT)
    expected = NORM.format("x", "y", "True", "@weight=(8)f32")
    assert_becomes(RMSNorm(), made, AFTER.format(expected))


SQUARE = "1 1 x a expr=pow(@0,2)"
ROOT = "1 1 c d expr=rsqrt(@0)"
PRODUCT = "2 1 x d f expr=mul(@0,@1)"


@pytest.mark.parametrize(
    "text",
    [
        norm().replace(SQUARE, "2 1 x x a expr=mul(@0,@1)"),
        norm().replace(SQUARE, "1 1 x a expr=square(@0)"),
        norm().replace("add(@0,1.000000e-6)", "add(1.000000e-6,@0)"),
        norm().replace(PRODUCT, "2 1 d x f expr=mul(@0,@1)"),
        norm().replace(ROOT, "1 1 c d expr=sqrt(@0)").replace("mul(@0,@1)", "div(@0,@1)"),
        norm().replace(ROOT, "1 1 c d expr=pow(@0,-0.5)"),
        norm().replace(
            f"s {ROOT}", "r0 1 1 c c1 expr=sqrt(@0)\npnnx.Expression s 1 1 c1 d expr=div(1,@0)"
        ),
        norm().replace(
            f"s {ROOT}", "r0 1 1 c c1 expr=sqrt(@0)\npnnx.Expression s 1 1 c1 d expr=reciprocal(@0)"
        ),
    ],
)
def test_any_spelling_of_the_root_is_a_norm(text):
    expected = NORM.format("x", "f", "False", "") + "\n    F.relu r 1 1 f y"
    assert_becomes(RMSNorm(), graph(text, WEIGHT), AFTER.format(expected))


@pytest.mark.parametrize("product", ["mul(@0,@1)", "mul(@1,@0)"])
def test_the_weight_may_be_multiplied_first(product):
    text = norm(f"pnnx.Expression k 2 1 f d y expr={product}").replace(
        PRODUCT, "2 1 w x f expr=mul(@0,@1)"
    )
    expected = NORM.format("x", "y", "True", "@weight=(8)f32")
    assert_becomes(RMSNorm(), graph(text, WEIGHT), AFTER.format(expected))


def test_what_is_normalized_may_be_a_product():
    text = norm().replace(
        "pnnx.Expression p",
        "pnnx.Expression q 2 1 g w x expr=mul(@0,@1) #x=(2,3,8)f32\npnnx.Expression p",
    )
    made = graph(text.replace("0 1 x #x=(2,3,8)f32", "0 1 g #g=(2,3,8)f32"), WEIGHT)
    assert RMSNorm()(made) == 1
    assert [op.type for op in made.operators if op.name in "qn"] == [
        "pnnx.Expression",
        "nn.RMSNorm",
    ]


def test_a_norm_that_is_read_twice_keeps_its_weight_apart():
    made = graph(
        norm("pnnx.Expression k 2 1 f w y expr=mul(@0,@1)").replace("2 0 y w", "2 0 y f"), WEIGHT
    )
    assert RMSNorm()(made) == 1
    assert made.of_type("nn.RMSNorm")[0].params["elementwise_affine"] is False
    assert [op.name for op in made.of_type("pnnx.Expression")] == ["k"]


@pytest.mark.parametrize(
    "text",
    [
        norm().replace(f"{PRODUCT} #x=(2,3,8)f32", "2 1 w d f expr=mul(@0,@1)"),
        norm().replace(PRODUCT, "2 1 x d f expr=div(@0,@1)"),
        norm().replace(SQUARE, "2 1 x w a expr=mul(@0,@1)"),
        norm().replace("x=(2,3,8)f32", "x=(2,3,8)f16"),
        norm(mean="dim=(-2) keepdim=True"),
        norm(mean="dim=(-1) keepdim=False"),
        norm().replace("pow(@0,2)", "pow(@0,3)"),
        norm().replace("rsqrt", "sqrt"),
        norm().replace("add(@0,", "mul(@0,"),
        norm().replace("out 2 0 y w", "out 2 0 y c"),
    ],
)
def test_other_norms_stay(text):
    assert_stays(RMSNorm(), text, WEIGHT)


def attention(
    expr: str = "add(mul(@0,0.5),@1)", softmax: str = "dim=-1", flip: str = "dim0=2 dim1=3"
) -> str:
    return f"""
    pnnx.Input i0 0 1 q #q=(2,3,6,4)f32
    pnnx.Input i1 0 1 k #k=(2,3,5,4)f32
    pnnx.Input i2 0 1 v #v=(2,3,5,4)f32
    pnnx.Input i3 0 1 m #m=(2,1,6,5)f32
    torch.transpose t 1 1 k a {flip} $input=k #k=(2,3,5,4)f32 #a=(2,3,4,5)f32
    torch.matmul s 2 1 q a b $input=q $other=a #q=(2,3,6,4)f32 #a=(2,3,4,5)f32 #b=(2,3,6,5)f32
    pnnx.Expression e 2 1 b m c expr={expr} #b=(2,3,6,5)f32 #m=(2,1,6,5)f32 #c=(2,3,6,5)f32
    F.softmax p 1 1 c d {softmax} $input=c #c=(2,3,6,5)f32 #d=(2,3,6,5)f32
    torch.matmul o 2 1 d v y $input=d $other=v #d=(2,3,6,5)f32 #v=(2,3,5,4)f32 #y=(2,3,6,4)f32
    pnnx.Output out 1 0 y
    """


def test_a_scaled_dot_product_is_torchs():
    assert_becomes(
        FuseScaledDotProduct(),
        graph(attention()),
        """
        pnnx.Input i0 0 1 q #q=(2,3,6,4)f32
        pnnx.Input i1 0 1 k #k=(2,3,5,4)f32
        pnnx.Input i2 0 1 v #v=(2,3,5,4)f32
        pnnx.Input i3 0 1 m #m=(2,1,6,5)f32
        F.scaled_dot_product_attention o 4 1 q k v m y dropout_p=0.0 is_causal=False $query=q $key=k $value=v $attn_mask=m #y=(2,3,6,4)f32
        pnnx.Output out 1 0 y
        """,  # noqa: E501
    )
    assert FuseScaledDotProduct.changes_arithmetic


@pytest.mark.parametrize(
    "text",
    [
        attention("add(mul(@0,0.4),@1)"),
        attention("add(mul(@1,0.5),@0)"),
        attention("mul(mul(@0,0.5),@1)"),
        attention("add(@0,@1)"),
        attention(softmax="dim=2"),
        attention(flip="dim0=1 dim1=3"),
        attention().replace("out 1 0 y", "out 2 0 y d"),
        attention().replace("#m=(2,1,6,5)f32", "#m=(2,1,6,5)f64"),
        attention().replace("#k=(2,3,5,4)f32", "#k=(1,3,5,4)f32"),
    ],
)
def test_other_products_stay(text):
    assert_stays(FuseScaledDotProduct(), text)
