"""torch.add and its kin with alpha, as expressions."""

from __future__ import annotations

import pytest
import torch
from graphs import assert_becomes, assert_stays, graph

from converter.passes.scaled_sum import ScaledSum


def of(op: str, inputs: str) -> str:
    return f"""
    pnnx.Input in_0 0 1 x #x=(2,3)f32
    pnnx.Input in_1 0 1 y #y=(2,3)f32
    {op.split()[0]} op {len(inputs.split())} 1 {inputs} z {op.split(maxsplit=1)[1]} #z=(2,3)f32
    pnnx.Output out 3 0 x y z
    """


TWO = "$input=x $other=y"


@pytest.mark.parametrize(
    ("op", "inputs", "expr", "order"),
    [
        (f"torch.add alpha=2 {TWO}", "x y", "add(@0,mul(@1,2))", "x y"),
        (f"torch.sub alpha=0.5 {TWO}", "x y", "sub(@0,mul(@1,0.5))", "x y"),
        (f"torch.rsub alpha=2 {TWO}", "x y", "sub(@0,mul(@1,2))", "y x"),
        ("torch.add alpha=2 other=2.5 $input=x", "x", "add(@0,5.0)", "x"),
        ("torch.rsub alpha=4 other=2 $input=x", "x", "sub(2,mul(@0,4))", "x"),
    ],
)
def test_alpha_is_part_of_the_expression(op, inputs, expr, order):
    assert_becomes(ScaledSum(), graph(of(op, inputs)), of(f"pnnx.Expression expr={expr}", order))


@pytest.mark.parametrize(("result", "scaled"), [("i32", "u8"), ("f64", "f32"), ("i64", "bool")])
def test_what_is_scaled_in_another_dtype_stays(result, scaled):
    for op in ("torch.add alpha=2 $input=x $other=y", "torch.rsub alpha=2 $input=y $other=x"):
        before = (
            of(op, "x y").replace("f32", result).replace(f"#y=(2,3){result}", f"#y=(2,3){scaled}")
        )
        assert_stays(ScaledSum(), before)


def test_they_are_those_of_torch():
    x, y = torch.rand(2, 3), torch.rand(2, 3)
    assert torch.equal(torch.rsub(x, y, alpha=2), y - x * 2)
    assert torch.equal(torch.sub(x, y, alpha=0.5), x - y * 0.5)
    assert torch.equal(torch.add(x, 2.5, alpha=2), x + 5.0)
