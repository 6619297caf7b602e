"""How tensors lie in memory, left out."""

from __future__ import annotations

from graphs import assert_becomes, assert_stays, graph

from converter.passes.layouts import EliminateLayouts


def test_readers_take_the_tensor_as_it_lies():
    before = graph("""
    pnnx.Input in 0 1 x #x=(1,3,4,4)f32
    Tensor.contiguous first 1 1 x a $input=x memory_format=torch.channels_last #a=(1,3,4,4)f32
    Tensor.contiguous second 1 1 a b $input=a #b=(1,3,4,4)f32
    F.relu relu 1 1 b y $input=b #b=(1,3,4,4)f32 #y=(1,3,4,4)f32
    pnnx.Output out 2 0 a y
    """)
    assert_becomes(
        EliminateLayouts(),
        before,
        """
    pnnx.Input in 0 1 x #x=(1,3,4,4)f32
    F.relu relu 1 1 x y $input=x #y=(1,3,4,4)f32
    pnnx.Output out 2 0 x y
    """,
    )
    assert EliminateLayouts.changes_arithmetic


def test_what_is_read_by_its_places_in_memory_stays():
    assert_stays(
        EliminateLayouts(),
        """
    pnnx.Input in 0 1 x #x=(2,3)f32
    Tensor.contiguous c 1 1 x a $input=x #a=(2,3)f32
    torch.as_strided s 1 1 a y $input=a size=(2) stride=(1) #y=(2)f32
    pnnx.Output out 1 0 y
    """,
    )
