"""How tensors lie in memory, left out."""

from __future__ import annotations

import pytest
import torch
from graphs import assert_becomes, assert_stays, graph

from converter import convert
from converter.passes.layouts import EliminateLayouts, StoredLayouts


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


STORED = """
    pnnx.Input in 0 1 x #x=(2,3)f32
    pnnx.Attribute w 0 1 w @data=(3,4)f32 #w=(3,4)f32
    {reader}
    pnnx.Output out 1 0 y
"""


@pytest.mark.parametrize(
    ("reader", "notices"),
    [
        ("torch.matmul m 2 1 x w y $input=x $other=w #y=(2,4)f32", True),
        ("torch.einsum m 2 1 x w y equation=ij,jk->ik #y=(2,4)f32", True),
        ("torch.maximum m 2 1 x w y $input=x $other=w #y=(2,4)f32", False),
    ],
)
def test_sums_may_notice_how_a_stored_tensor_lay(reader, notices):
    made = graph(STORED.format(reader=reader))
    assert not StoredLayouts()(made), "it lay in the order of its dims"
    (stored,) = made.of_type("pnnx.Attribute")
    stored.outputs[0].row_major = False
    assert StoredLayouts()(made) == notices
    assert not StoredLayouts()(made), "it does now"
    assert StoredLayouts.changes_arithmetic


@pytest.mark.parametrize("stored", ["as parameter", "as constant"])
def test_what_lay_otherwise_is_told_as_rounding_otherwise(stored, tmp_path):
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            weight = torch.randn(8, 3, 5)
            self.weight = torch.nn.Parameter(
                weight.transpose(1, 2) if stored == "as parameter" else weight
            )

        def forward(self, x):
            weight = self.weight if stored == "as parameter" else self.weight.transpose(1, 2)
            return torch.einsum("abc,acd->abd", x, weight)

    assert_is_told(Model(), torch.rand(8, 4, 5), tmp_path)


def test_weights_of_modules_that_lay_otherwise_are_told(tmp_path):
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.randn(8, 16))

        def forward(self, x):
            return torch.nn.functional.linear(x, self.weight.t())

    assert_is_told(Model(), torch.rand(8), tmp_path)


def assert_is_told(model, x, folder):
    program = torch.export.export(model, (x,))
    torch.export.save(program, folder / "m.pt2")
    converted = convert(folder / "m.pt2", ncnn=False)
    assert converted.arithmetic_changed
    assert "StoredLayouts" in converted.passes
