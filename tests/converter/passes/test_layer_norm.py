"""Layer norms that are spelled out, one expression for each function, and what only looks alike."""

from __future__ import annotations

import pytest
from graphs import assert_becomes, assert_stays, graph

from converter.passes.layer_norm import LayerNorm

X, M = "(2,5,16)", "(2,5,1)"


def spelled(*lines: str, x: str = X, mean: str = M, dim: str = "(-1)", w: str = "(16)") -> str:
    """A graph of x, its mean u, a stored weight and bias, and `output inputs… expr` lines.

    Names that start with u, v or r have the shape of the mean. `mean` makes the mean of a tensor.
    """
    text = [
        f"pnnx.Input in 0 1 x #x={x}f32",
        f"pnnx.Attribute weight 0 1 w @data={w}f32 #w={w}f32",
        f"pnnx.Attribute bias 0 1 b @data={w}f32 #b={w}f32",
        f"torch.mean op_u 1 1 x u dim={dim} keepdim=True #x={x}f32 #u={mean}f32",
    ]
    for line in lines:
        output, *inputs, expr = line.split()
        shape = mean if output[0] in "uvr" else x
        params = f"dim={dim} keepdim=True" if expr == "mean" else f"expr={expr}"
        type = "torch.mean" if expr == "mean" else "pnnx.Expression"
        operands = " ".join((*inputs, output))
        text.append(f"{type} op_{output} {len(inputs)} 1 {operands} {params} #{output}={shape}f32")
    last = lines[-1].split()[0]
    return "\n".join([*text, f"pnnx.Output out 1 0 {last} #{last}={x}f32"])


VARIANCE = ("d x u sub(@0,@1)", "s d pow(@0,2)", "v s mean", "v1 v add(@0,1.000000e-5)")
ROOT = (*VARIANCE, "r v1 sqrt(@0)")
AFFINE = ("n d r div(@0,@1)", "m n w mul(@0,@1)", "y m b add(@0,@1)")
TORCH_VAR = spelled("d x u sub(@0,@1)", "v x mean", *VARIANCE[3:], "r v1 sqrt(@0)", *AFFINE)


def normed(affine: bool, shape: str = "(16)") -> str:
    attrs = f"@bias={shape}f32 @weight={shape}f32" if affine else ""
    return f"""
    pnnx.Input in 0 1 x #x={X}f32
    nn.LayerNorm n 1 1 x y elementwise_affine={affine} eps=1.000000e-5 normalized_shape={shape} {attrs} #x={X}f32 #y={X}f32
    pnnx.Output out 1 0 y
    """  # noqa: E501


@pytest.mark.parametrize(
    "lines",
    [
        (*ROOT, *AFFINE),
        (*ROOT, "n d r div(@0,@1)", "m w n mul(@0,@1)", "y b m add(@0,@1)"),
        (*ROOT, "m w d mul(@0,@1)", "n m r div(@0,@1)", "y n b add(@0,@1)"),
        (*VARIANCE, "r v1 rsqrt(@0)", "n r d mul(@0,@1)", *AFFINE[1:]),
        (*VARIANCE, "r v1 pow(@0,-0.5)", "n d w mul(@0,@1)", "m n r mul(@0,@1)", AFFINE[2]),
        (*VARIANCE, "r v1 pow(@0,0.5)", *AFFINE),
        # Each of the differences is worked out by itself.
        ("e x u sub(@0,@1)", "d x u sub(@0,@1)", "s e square(@0)", *ROOT[2:], *AFFINE),
        ("d x u sub(@0,@1)", "s d d mul(@0,@1)", *ROOT[2:], *AFFINE),
    ],
)
def test_any_order_of_the_factors_is_a_norm(lines):
    assert_becomes(LayerNorm(), graph(spelled(*lines)), normed(True))


def test_a_variance_of_torch():
    var = "torch.var op_v 1 1 x v dim=(2) keepdim=True unbiased={}"
    mean = "torch.mean op_v 1 1 x v dim=(-1) keepdim=True"
    assert_becomes(LayerNorm(), graph(TORCH_VAR.replace(mean, var.format(False))), normed(True))
    assert_stays(LayerNorm(), TORCH_VAR.replace(mean, var.format(True)))
    assert_stays(LayerNorm(), TORCH_VAR)


def test_without_a_weight_and_a_bias():
    assert_becomes(LayerNorm(), graph(spelled(*ROOT, "y d r div(@0,@1)")), normed(False))


def test_over_two_dims():
    text = spelled(*ROOT, *AFFINE, dim="(-1,1)", mean="(2,1,1)", w="(5,16)")
    assert_becomes(LayerNorm(), graph(text), normed(True, "(5,16)"))


def test_the_other_dims_may_be_dynamic():
    text = spelled(*ROOT, *AFFINE, x="(?,?,16)", mean="(?,?,1)")
    made = graph(text)
    assert LayerNorm()(made) == 1
    (norm,) = made.of_type("nn.LayerNorm")
    assert norm.params["normalized_shape"] == (16,)
    assert norm.outputs[0].shape == ("?", "?", 16)
    assert norm.attrs["weight"].shape == (16,)
    assert not made.of_type("pnnx.Expression")


def test_the_channels_of_dynamic_images():
    text = spelled(*ROOT, *AFFINE, x="(?,5,?,4)", mean="(?,1,?,4)", dim="(1)", w="(5,1,1)")
    made = graph(text)
    assert LayerNorm()(made) == 1
    (norm,) = made.of_type("nn.LayerNorm")
    assert norm.inputs[0].shape == ("?", "?", 4, 5)
    assert norm.params["normalized_shape"] == (5,)


@pytest.mark.parametrize("w", ["(5,1,1)", "(1,5,1,1)"])
def test_channels_are_normalized_as_the_last_dim(w):
    x = "(2,5,3,4)"
    assert_becomes(
        LayerNorm(),
        graph(spelled(*ROOT, *AFFINE, x=x, mean="(2,1,3,4)", dim="(1)", w=w)),
        f"""
        pnnx.Input in 0 1 x #x={x}f32
        Tensor.permute p 1 1 x a dims=(0,2,3,1) $input=x #x={x}f32 #a=(2,3,4,5)f32
        nn.LayerNorm n 1 1 a c elementwise_affine=True eps=1.000000e-5 normalized_shape=(5) @bias=(5)f32 @weight=(5)f32 #a=(2,3,4,5)f32 #c=(2,3,4,5)f32
        Tensor.permute q 1 1 c y dims=(0,3,1,2) $input=c #c=(2,3,4,5)f32 #y={x}f32
        pnnx.Output out 1 0 y
        """,  # noqa: E501
    )


@pytest.mark.parametrize(
    "text",
    [
        spelled(*ROOT, "n d r mul(@0,@1)", *AFFINE[1:]),
        spelled(*ROOT, "n x r div(@0,@1)", *AFFINE[1:]),
        spelled("d x u add(@0,@1)", *ROOT[1:], *AFFINE),
        spelled("d u x sub(@0,@1)", *ROOT[1:], *AFFINE),
        spelled("d x u sub(@0,@1)", "s x pow(@0,2)", *ROOT[2:], *AFFINE),
        spelled("d x u sub(@0,@1)", "s d pow(@0,3)", *ROOT[2:], *AFFINE),
        spelled(*VARIANCE[:3], "r1 v sqrt(@0)", "r r1 add(@0,1.000000e-5)", *AFFINE),
        spelled(*ROOT, *AFFINE, dim="(1)", mean="(2,1,16)"),
        spelled(*ROOT, *AFFINE).replace("1 1 s v dim=(-1)", "1 1 s v dim=(1)"),
        spelled(*ROOT, *AFFINE).replace("f32", "f16"),
        spelled(*ROOT, "y d r div(@0,@1)", x="()", mean="()"),
        spelled(*ROOT, *AFFINE, x="(2,5,?)"),
    ],
)
def test_other_formulas_stay(text):
    assert_stays(LayerNorm(), text)


@pytest.mark.parametrize("w", ["(1)", "(5,16)", "(2,5,16)"])
def test_a_weight_of_another_shape_is_none_of_the_norm(w):
    made = graph(spelled(*ROOT, *AFFINE, w=w))
    assert LayerNorm()(made) == 1
    (norm,) = made.of_type("nn.LayerNorm")
    assert norm.params["elementwise_affine"] is False
    assert [op.name for op in made.of_type("pnnx.Expression")] == ["op_m", "op_y"]


def test_a_weight_that_is_multiplied_by_twice_is_none_of_the_norm():
    made = graph(spelled(*ROOT, *AFFINE[:2], "k m w mul(@0,@1)", "y k b add(@0,@1)"))
    assert LayerNorm()(made) == 1
    (norm,) = made.of_type("nn.LayerNorm")
    assert norm.params["elementwise_affine"] is False
    assert [op.name for op in made.of_type("pnnx.Expression")] == ["op_m", "op_k", "op_y"]
