"""Decomposed programs that are put together again."""

from __future__ import annotations

import pytest
from graphs import assert_becomes, assert_stays, graph

from converter.passes.recompose import BatchedLinear, Linear

TRANSPOSES = (
    "Tensor.permute t 1 1 w t dims=(1,0)",
    "torch.t        t 1 1 w t",
    "torch.transpose t 1 1 w t dim0=-2 dim1=1",
)
INPUTS = """
    pnnx.Input x 0 1 x #x=(6,4)f32
    pnnx.Input w 0 1 w #w=(3,4)f32
    pnnx.Input b 0 1 b #b={bias}f32
"""


@pytest.mark.parametrize("transpose", TRANSPOSES)
def test_addmm_of_a_transposed_weight_is_linear(transpose: str) -> None:
    assert_becomes(
        Linear(),
        graph(
            f"""
            {INPUTS.format(bias="(3)")}
            {transpose} #t=(4,3)f32
            torch.addmm y 3 1 b x t y alpha=1 beta=1 $input=b $mat1=x $mat2=t #y=(6,3)f32
            pnnx.Output out 1 0 y
            """
        ),
        f"""
        {INPUTS.format(bias="(3)")}
        F.linear y 3 1 x w b y $input=x $weight=w $bias=b #y=(6,3)f32
        pnnx.Output out 1 0 y
        """,
    )


def test_mm_is_linear_without_a_bias() -> None:
    assert_becomes(
        Linear(),
        graph(
            f"""
            {INPUTS.format(bias="(3)")}
            {TRANSPOSES[0]} #t=(4,3)f32
            torch.mm y 2 1 x t y $input=x $mat2=t #y=(6,3)f32
            pnnx.Output out 1 0 y
            """
        ),
        f"""
        {INPUTS.format(bias="(3)")}
        F.linear y 2 1 x w y bias=None $input=x $weight=w #y=(6,3)f32
        pnnx.Output out 1 0 y
        """,
    )


@pytest.mark.parametrize(
    ("bias", "transpose", "params"),
    [
        ("(6,3)", TRANSPOSES[0], "alpha=1 beta=1"),
        ("(1)", TRANSPOSES[0], "alpha=1 beta=1"),
        ("(3)", TRANSPOSES[0], "alpha=1 beta=0.5"),
        ("(3)", TRANSPOSES[0], "alpha=2 beta=1"),
        ("(3)", "Tensor.permute t 1 1 w t dims=(0,1)", "alpha=1 beta=1"),
        ("(3)", "Tensor.reshape t 1 1 w t shape=(4,3)", "alpha=1 beta=1"),
    ],
)
def test_other_sums_of_products_stay(bias: str, transpose: str, params: str) -> None:
    assert_stays(
        Linear(),
        f"""
        {INPUTS.format(bias=bias)}
        {transpose} #t=(4,3)f32
        torch.addmm y 3 1 b x t y {params} $input=b $mat1=x $mat2=t #y=(6,3)f32
        pnnx.Output out 1 0 y
        """,
    )


BATCHED = """
    pnnx.Input     x 0 1 x #x={source}f32
    Tensor.reshape a 1 1 x a shape=(6,4) $input=x #x={source}f32 #a=(6,4)f32
    nn.Linear      l 1 1 a l in_features=4 out_features=3 bias=True #a=(6,4)f32 #l=(6,3)f32
    Tensor.reshape y 1 1 l y shape={result} $input=l #l=(6,3)f32 #y={result}f32
    pnnx.Output out {outputs}
"""


def test_linear_takes_more_dims() -> None:
    assert_becomes(
        BatchedLinear(),
        graph(BATCHED.format(source="(2,3,4)", result="(2,3,3)", outputs="1 0 y")),
        """
        pnnx.Input x 0 1 x #x=(2,3,4)f32
        nn.Linear  l 1 1 x l in_features=4 out_features=3 bias=True #x=(2,3,4)f32 #l=(2,3,3)f32
        pnnx.Output out 1 0 l
        """,
    )


@pytest.mark.parametrize(
    ("source", "result", "outputs"),
    [
        ("(2,3,4)", "(2,3,3)", "2 0 y l"),
        ("(2,12)", "(2,9)", "1 0 y"),
        ("(2,3,4)", "(3,2,3)", "1 0 y"),
        ("(2,2,6)", "(2,2,6)", "1 0 y"),
    ],
)
def test_other_reshapes_stay(source: str, result: str, outputs: str) -> None:
    assert_stays(BatchedLinear(), BATCHED.format(source=source, result=result, outputs=outputs))
