"""RMS norms and scaled dot products that are spelled out."""

from __future__ import annotations

import numpy as np
import pytest
from graphs import assert_becomes, assert_stays, graph

from converter.passes.base import Pass
from converter.passes.fuse_scaled_dot_product import FuseScaledDotProduct
from converter.passes.rms_norm import RMS_NORMS


class RMSNorms(Pass):
    """All of them, in order."""

    def run(self, graph):
        return sum(one(graph) for one in RMS_NORMS)


def norm(mul: str = "F.relu r 1 1 f y", mean: str = "dim=(-1) keepdim=True") -> str:
    return f"""
    pnnx.Input in 0 1 x #x=(2,3,8)f32
    pnnx.Attribute w 0 1 w @data=(8)f32 #w=(8)f32
    pnnx.Expression p 1 1 x a expr=pow(@0,2) #x=(2,3,8)f32
    torch.mean m 1 1 a b {mean}
    pnnx.Expression e 1 1 b c expr=add(@0,1.000000e-6)
    pnnx.Expression s 1 1 c d expr=rsqrt(@0)
    pnnx.Expression n 2 1 x d f expr=mul(@0,@1) #x=(2,3,8)f32
    {mul}
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
    assert_becomes(RMSNorms(), graph(norm(), WEIGHT), AFTER.format(expected))


@pytest.mark.parametrize("inputs", ["f w", "w f"])
def test_a_norm_with_a_weight(inputs):
    made = graph(norm(f"pnnx.Expression k 2 1 {inputs} y expr=mul(@0,@1)"), WEIGHT)
    expected = NORM.format("x", "y", "True", "@weight=(8)f32")
    assert_becomes(RMSNorms(), made, AFTER.format(expected))


@pytest.mark.parametrize(
    "text",
    [
        norm(mean="dim=(-2) keepdim=True"),
        norm(mean="dim=(-1) keepdim=False"),
        norm().replace("pow(@0,2)", "pow(@0,3)"),
        norm().replace("rsqrt", "sqrt"),
        norm().replace("add(@0,", "mul(@0,"),
        norm().replace("out 2 0 y w", "out 2 0 y c"),
    ],
)
def test_other_norms_stay(text):
    assert_stays(RMSNorms(), text, WEIGHT)


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
