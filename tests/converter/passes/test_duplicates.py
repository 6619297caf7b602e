"""What is computed twice, and what only looks so."""

from __future__ import annotations

import pytest
from graphs import assert_becomes, assert_stays, graph

from converter.passes.duplicates import MergeDuplicates


def two(first: str, second: str) -> str:
    return f"""
    pnnx.Input in 0 1 x #x=(3,4)f32
    {first.format("p", "x", "a")} #x=(3,4)f32 #a=(3,4)f32
    {second.format("q", "x", "b")} #x=(3,4)f32 #b=(3,4)f32
    pnnx.Expression add 2 1 a b y expr=add(@0,@1) #a=(3,4)f32 #b=(3,4)f32 #y=(3,4)f32
    pnnx.Output out 1 0 y #y=(3,4)f32
    """


def test_equal_operators_are_one():
    softmax = "F.softmax {} 1 1 {} {} dim=1"
    assert_becomes(
        MergeDuplicates(),
        graph(two(softmax, softmax)),
        """
        pnnx.Input in 0 1 x #x=(3,4)f32
        F.softmax p 1 1 x a dim=1 #x=(3,4)f32 #a=(3,4)f32
        pnnx.Expression add 2 1 a a y expr=add(@0,@1) #a=(3,4)f32 #y=(3,4)f32
        pnnx.Output out 1 0 y #y=(3,4)f32
        """,
    )


def test_operators_of_equal_operators_are_one():
    made = graph(
        """
        pnnx.Input in 0 1 x #x=(3)f32
        F.relu p 1 1 x a
        F.relu q 1 1 x b
        F.silu r 1 1 a c
        F.silu s 1 1 b d
        pnnx.Output out 2 0 c d
        """
    )
    assert MergeDuplicates()(made) == 2
    assert [op.name for op in made.operators] == ["in", "p", "r", "out"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("F.softmax {} 1 1 {} {} dim=1", "F.softmax {} 1 1 {} {} dim=0"),
        ("F.softmax {} 1 1 {} {} dim=1", "F.softmax {} 1 1 {} {} dim=True"),
        ("F.relu {} 1 1 {} {}", "F.silu {} 1 1 {} {}"),
        (
            "pnnx.Expression {} 1 1 {} {} expr=mul(@0,2)",
            "pnnx.Expression {} 1 1 {} {} expr=mul(@0,2.0)",
        ),
        ("torch.clone {} 1 1 {} {}", "torch.clone {} 1 1 {} {}"),
        ("torch.rand_like {} 1 1 {} {}", "torch.rand_like {} 1 1 {} {}"),
        ("nn.Linear {} 1 1 {} {} @weight=(4,4)f32", "nn.Linear {} 1 1 {} {} @weight=(4,4)f32"),
    ],
)
def test_others_stay_apart(first, second):
    assert_stays(MergeDuplicates(), two(first, second))


def test_modules_of_the_same_weights_are_one():
    linear = "nn.Linear {} 1 1 {} {} @weight=(4,4)f32"
    made = graph(two(linear, linear))
    first, second = made.of_type("nn.Linear")
    second.attrs = dict(first.attrs)
    assert MergeDuplicates()(made) == 1
