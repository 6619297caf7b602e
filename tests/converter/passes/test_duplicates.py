"""What is computed twice, and what only looks so."""

from __future__ import annotations

import numpy as np
import pytest
from graphs import assert_becomes, assert_stays, graph

from converter.ir import Attribute
from converter.passes.duplicates import SMALL, MergeDuplicates


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
    ],
)
def test_others_stay_apart(first, second):
    assert_stays(MergeDuplicates(), two(first, second))


LINEAR = "nn.Linear {} 1 1 {} {} @weight=(4,4)f32"
ONES = np.ones((4, 4), np.float32)


def test_small_weights_are_the_same_by_their_values():
    values = {"p.weight": ONES, "q.weight": ONES.copy()}
    assert MergeDuplicates()(graph(two(LINEAR, LINEAR), values)) == 1


def test_weights_of_other_values_or_types_are_others():
    assert_stays(MergeDuplicates(), two(LINEAR, LINEAR), {"p.weight": ONES, "q.weight": ONES * 2})
    made = graph(two(LINEAR, LINEAR), {"p.weight": ONES, "q.weight": ONES})
    made.of_type("nn.Linear")[1].attrs["weight"] = Attribute.of(ONES.astype(np.float64))
    assert MergeDuplicates()(made) == 0
    made.of_type("nn.Linear")[1].attrs["weight"] = Attribute.of(ONES, frozen=True)
    assert MergeDuplicates()(made) == 0


def test_large_weights_are_the_same_where_they_are_one():
    large = LINEAR.replace("(4,4)", "(200,200)")
    wide = np.ones((200, 200), np.float32)
    assert wide.nbytes > SMALL
    made = graph(two(large, large), {"p.weight": wide, "q.weight": wide})
    assert MergeDuplicates()(made) == 0
    first, second = made.of_type("nn.Linear")
    second.attrs = dict(first.attrs)
    assert MergeDuplicates()(made) == 1
