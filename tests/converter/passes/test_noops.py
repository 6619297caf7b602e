"""Operators that change nothing, and those that look as if they did not."""

from __future__ import annotations

import numpy as np
import pytest
from graphs import assert_becomes, assert_stays, graph

from converter.passes.noops import EliminateAddedZeros, EliminateNoopMath, EliminateNoops

NOTHING = """
    pnnx.Input in 0 1 x #x=(1,3,4,4)f32
    F.relu relu 1 1 x y #x=(1,3,4,4)f32 #y=(1,3,4,4)f32
    pnnx.Output out 1 0 y #y=(1,3,4,4)f32
"""


def around(op: str, result: str = "(1,3,4,4)f32") -> str:
    """An operator of x, and a ReLU of its result."""
    type, params = op.split(maxsplit=1)
    return f"""
    pnnx.Input in 0 1 x #x=(1,3,4,4)f32
    {type} op 1 1 x a {params} #x=(1,3,4,4)f32 #a={result}
    F.relu relu 1 1 a y #a={result} #y={result}
    pnnx.Output out 1 0 y #y={result}
    """


@pytest.mark.parametrize(
    "op",
    [
        "Tensor.reshape shape=(1,3,4,4)",
        "Tensor.permute dims=(0,1,2,3)",
        "Tensor.permute dims=(0,-3,2,-1)",
        "Tensor.slice dim=0 start=0 end=2147483647 step=1",
        "Tensor.slice dim=1 start=-3 end=3 step=1",
        "nn.Upsample size=(4,4) mode=bilinear align_corners=True",
        "nn.UpsamplingNearest2d scale_factor=(1.0,1.0) size=None",
        "torch.cat dim=1",
        "torch.einsum equation=ijkl",
        "F.pad pad=(0,0,0,0) mode=reflect value=None",
        "F.upsample size=(4,4) mode=bilinear align_corners=False",
        "F.upsample_nearest scale_factor=(1.0,1.0)",
        "F.interpolate size=(4,4) mode=nearest-exact",
    ],
)
def test_an_operator_that_changes_nothing_goes(op):
    assert_becomes(EliminateNoops(), graph(around(op)), NOTHING)


def test_a_chain_of_them_goes_at_once():
    for one, op in (
        (EliminateNoops(), "Tensor.permute {} 1 1 {} {} dims=(0)"),
        (EliminateNoopMath(), "pnnx.Expression {} 1 1 {} {} expr=mul(@0,1)"),
    ):
        made = graph(
            f"""
            pnnx.Input in 0 1 x #x=(3)f32
            {op.format("p", "x", "a")} #x=(3)f32 #a=(3)f32
            {op.format("q", "a", "b")} #a=(3)f32 #b=(3)f32
            F.relu relu 1 1 b y #b=(3)f32 #y=(3)f32
            pnnx.Output out 1 0 y #y=(3)f32
            """
        )
        assert_becomes(
            one,
            made,
            """
            pnnx.Input in 0 1 x #x=(3)f32
            F.relu relu 1 1 x y #x=(3)f32 #y=(3)f32
            pnnx.Output out 1 0 y #y=(3)f32
            """,
        )


@pytest.mark.parametrize(
    ("op", "result"),
    [
        ("Tensor.reshape shape=(3,16)", "(3,16)f32"),
        ("Tensor.permute dims=(0,1,3,2)", "(1,3,4,4)f32"),
        ("Tensor.slice dim=1 start=1 end=3 step=1", "(1,2,4,4)f32"),
        ("torch.einsum equation=ijlk", "(1,3,4,4)f32"),
        ("nn.Upsample scale_factor=(2.0,1.0) size=None mode=nearest", "(1,3,8,4)f32"),
        ("F.pad pad=(-1,1) mode=constant value=None", "(1,3,4,4)f32"),
        # 4 * 1.1 is 4 again, but of other places.
        ("F.upsample scale_factor=(1.1,1.1) mode=bilinear align_corners=False", "(1,3,4,4)f32"),
        ("F.interpolate size=(4,4) mode=bilinear antialias=True", "(1,3,4,4)f32"),
    ],
)
def test_an_operator_that_changes_something_stays(op, result):
    assert_stays(EliminateNoops(), around(op, result))


def test_an_unknown_shape_is_not_the_same_shape():
    assert_stays(
        EliminateNoops(),
        """
        pnnx.Input in 0 1 x
        Tensor.reshape op 1 1 x y shape=(3)
        pnnx.Output out 1 0 y
        """,
    )


@pytest.mark.parametrize(
    "expr", ["sub(@0,0)", "mul(@0,1)", "mul(1.0,@0)", "div(@0,1)", "pow(@0,1)"]
)
def test_arithmetic_with_a_neutral_number_goes(expr):
    assert_becomes(EliminateNoopMath(), graph(around(f"pnnx.Expression expr={expr}")), NOTHING)


@pytest.mark.parametrize(
    "expr", ["sub(0,@0)", "mul(@0,2)", "div(1,@0)", "pow(1,@0)", "mul(@0,@0)", "sub(mul(@0,1),0)"]
)
def test_other_arithmetic_stays(expr):
    assert_stays(EliminateNoopMath(), around(f"pnnx.Expression expr={expr}"))


def test_arithmetic_that_changes_the_dtype_stays():
    assert_stays(EliminateNoopMath(), around("pnnx.Expression expr=mul(@0,1.0)", "(1,3,4,4)f64"))


def test_zeros_are_added_in_a_pass_of_its_own():
    made = around("pnnx.Expression expr=add(0,@0)")
    assert_stays(EliminateNoopMath(), made)
    assert_becomes(EliminateAddedZeros(), graph(made), NOTHING)
    assert EliminateAddedZeros.changes_arithmetic


def with_tensor(expr: str, shape: str = "(1,3,4,4)") -> str:
    return f"""
    pnnx.Input in 0 1 x #x=(1,3,4,4)f32
    pnnx.Attribute ones 0 1 w @data=(4)f32 #w=(4)f32
    pnnx.Expression op 2 1 x w a expr={expr} #x=(1,3,4,4)f32 #w=(4)f32 #a={shape}f32
    F.relu relu 1 1 a y #a={shape}f32 #y={shape}f32
    pnnx.Output out 1 0 y #y={shape}f32
    """


def test_arithmetic_with_a_stored_tensor_of_neutral_elements_goes():
    made = graph(with_tensor("mul(@0,@1)"), {"ones.data": np.ones(4, np.float32)})
    assert EliminateNoopMath()(made) == 1
    assert [op.type for op in made.operators][2:] == ["F.relu", "pnnx.Output"]


def test_one_other_element_is_enough_to_stay():
    values = {"ones.data": np.array([1, 1, 1, 2], np.float32)}
    assert_stays(EliminateNoopMath(), with_tensor("mul(@0,@1)"), values)


def test_a_tensor_that_spreads_the_result_stays():
    values = {"ones.data": np.ones(4, np.float32)}
    assert_stays(EliminateNoopMath(), with_tensor("mul(@0,@1)", "(2,3,4,4)"), values)
