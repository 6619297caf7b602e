"""Expansions that element-wise arithmetic does by itself, and those that it does not."""

from __future__ import annotations

import pytest
from graphs import assert_becomes, assert_stays, graph

from converter.passes.expand import EliminateExpands


def expanded(
    x: str,
    y: str,
    *,
    to: str = "(2,3,4)",
    result: str = "(2,3,4)",
    expr: str = "add(@0,@1)",
    more: str = "",
) -> str:
    """An expansion of x, which is read together with y."""
    return f"""
    pnnx.Input in_0 0 1 x #x={x}f32
    pnnx.Input in_1 0 1 y #y={y}f32
    Tensor.expand expand 1 1 x a sizes={to} #x={x}f32 #a={to}f32
    pnnx.Expression op 2 1 a y z expr={expr} #a={to}f32 #y={y}f32 #z={result}f32
    {more}
    pnnx.Output out 1 0 z
    """


@pytest.mark.parametrize(
    ("x", "y", "expr"),
    [
        ("(1,3,4)", "(2,3,4)", "add(@0,@1)"),
        ("(2,1,4)", "(2,3,4)", "sub(@1,sqrt(@0))"),
        ("(1,1,1)", "(2,3,4)", "add(mul(@0,@1),@0)"),
        ("(1,3,4)", "(2,3,1)", "mul(@0,@1)"),
        ("(2,3,1)", "(4)", "mul(@0,@1)"),
        ("(2,3,4)", "(1,1)", "sub(@0,@1)"),
    ],
)
def test_what_the_other_tensor_spreads_is_not_expanded(x, y, expr):
    assert_becomes(
        EliminateExpands(),
        graph(expanded(x, y, expr=expr)),
        f"""
        pnnx.Input in_0 0 1 x #x={x}f32
        pnnx.Input in_1 0 1 y #y={y}f32
        pnnx.Expression op 2 1 x y z expr={expr} #x={x}f32 #y={y}f32 #z=(2,3,4)f32
        pnnx.Output out 1 0 z
        """,
    )


@pytest.mark.parametrize(
    "text",
    [
        expanded("(1,3,4)", "(3,1)"),
        expanded("(3,4)", "(2,3,4)"),
        expanded("(1,3,4)", "(2,3,4)", expr="mul(@1,size(@0,0))"),
        expanded("(1,3,4)", "(2,3,4)", more="F.relu relu 1 1 a b #a=(2,3,4)f32 #b=(2,3,4)f32"),
        expanded("(1,3,4)", "(2,3,4)").replace("pnnx.Expression op", "torch.lt op"),
    ],
)
def test_other_expansions_stay(text):
    assert_stays(EliminateExpands(), text)


def test_of_two_that_spread_each_other_one_stays():
    made = graph(
        """
        pnnx.Input in_0 0 1 x #x=(1,3)f32
        pnnx.Input in_1 0 1 y #y=(1,3)f32
        Tensor.expand one 1 1 x a sizes=(2,3) #x=(1,3)f32 #a=(2,3)f32
        Tensor.expand_as other 2 1 y a b #y=(1,3)f32 #a=(2,3)f32 #b=(2,3)f32
        F.relu relu 1 1 a c #a=(2,3)f32 #c=(2,3)f32
        Tensor.expand third 1 1 x d sizes=(2,3) #x=(1,3)f32 #d=(2,3)f32
        pnnx.Expression op 2 1 b d z expr=add(@0,@1) #b=(2,3)f32 #d=(2,3)f32 #z=(2,3)f32
        pnnx.Output out 2 0 z c
        """
    )
    assert EliminateExpands()(made) == 1
    assert [op.name for op in made.of_type("Tensor.expand", "Tensor.expand_as")] == ["one", "third"]
