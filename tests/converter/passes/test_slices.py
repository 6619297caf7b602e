"""Slices and selections that are joined, split off and taken apart."""

from __future__ import annotations

import pytest
from graphs import assert_becomes, assert_stays, graph

from converter.passes.dead_code import DeadCode
from converter.passes.slices import MergeSlices
from converter.passes.tensor_split import SlicesToTensorSplit
from converter.passes.unbind import SelectsToUnbind

END = 2**31 - 1


def sliced(name: str, source: str, result: str, dim: int, start: int, end: int, types: str) -> str:
    params = f"dim={dim} start={start} end={end} step=1"
    return f"Tensor.slice {name} 1 1 {source} {result} {params} $input={source} {types}"


def selected(name: str, source: str, result: str, dim: int, index: int, types: str) -> str:
    params = f"dim={dim} index={index}"
    return f"Tensor.select {name} 1 1 {source} {result} {params} $input={source} {types}"


def test_a_slice_after_a_selection_counts_its_dim_in_the_source():
    before = graph(
        f"""
        pnnx.Input in 0 1 x #x=(3,4,5)f32
        {selected("s", "x", "a", 0, 1, "#x=(3,4,5)f32 #a=(4,5)f32")}
        {sliced("t", "a", "y", 1, 2, END, "#a=(4,5)f32 #y=(4,3)f32")}
        pnnx.Output out 1 0 y #y=(4,3)f32
        """
    )
    assert MergeSlices()(before) == 1
    DeadCode()(before)
    op = before.of_type("Tensor.slice")[0]
    assert op.params == {
        "dims": (0, 2),
        "starts": (0, 2),
        "ends": (0, END),
        "steps": (0, 1),
        "selects": (1, END),
    }
    assert [o.type for o in before.operators] == ["pnnx.Input", "Tensor.slice", "pnnx.Output"]


def test_three_slices_become_one_and_the_first_stays_for_its_other_reader():
    x = "#x=(3,4,5)f32"
    before = graph(
        f"""
        pnnx.Input in 0 1 x {x}
        {sliced("s", "x", "a", 0, 0, 2, f"{x} #a=(2,4,5)f32")}
        {sliced("t", "a", "b", 1, 1, 3, "#a=(2,4,5)f32 #b=(2,2,5)f32")}
        {selected("u", "b", "y", -1, -1, "#b=(2,2,5)f32 #y=(2,2)f32")}
        pnnx.Output out 2 0 y a
        """
    )
    assert MergeSlices()(before) == 2
    DeadCode()(before)
    first, last = before.of_type("Tensor.slice")
    assert "dims" not in first.params
    assert last.params["dims"] == (0, 1, 2)
    assert last.params["selects"] == (END, END, -1)
    assert last.inputs[0].name == "x"


@pytest.mark.parametrize(
    ("dims", "shape"), [((1, 1), "(3,1,5)"), ((1, 0), "(2,2,5)"), ((2, 1), "(3,2,2)")]
)
def test_slices_of_the_same_dim_or_of_an_earlier_one_stay(dims, shape):
    middle = ["(2,4,5)", "(3,2,5)", "(3,4,2)"][dims[0]]
    assert_stays(
        MergeSlices(),
        f"""
        pnnx.Input in 0 1 x #x=(3,4,5)f32
        {sliced("s", "x", "a", dims[0], 0, 2, f"#x=(3,4,5)f32 #a={middle}f32")}
        {sliced("t", "a", "y", dims[1], 0, 2, f"#a={middle}f32 #y={shape}f32")}
        pnnx.Output out 1 0 y
        """,
    )


def test_slices_of_an_unknown_rank_stay():
    assert_stays(
        MergeSlices(),
        f"""
        pnnx.Input in 0 1 x
        {selected("s", "x", "a", 0, 1, "")}
        {sliced("t", "a", "y", 1, 2, 3, "")}
        pnnx.Output out 1 0 y
        """,
    )


def selects(indexes: list[int], dim: int = 0) -> str:
    types = "#x=(3,4)f32"
    lines = [selected(f"s{n}", "x", f"y{n}", dim, i, types) for n, i in enumerate(indexes)]
    outputs = " ".join(f"y{n}" for n in range(len(indexes)))
    return "\n".join(
        ["pnnx.Input in 0 1 x #x=(3,4)f32", *lines, f"pnnx.Output out {len(indexes)} 0 {outputs}"]
    )


def test_a_selection_of_every_index_is_an_unbind():
    assert_becomes(
        SelectsToUnbind(),
        graph(selects([2, 0, -2], dim=-2)),
        """
        pnnx.Input in 0 1 x #x=(3,4)f32
        torch.unbind u 1 3 x a b c dim=0 #x=(3,4)f32
        pnnx.Output out 3 0 c a b
        """,
    )


@pytest.mark.parametrize("indexes", [[0, 1], [0, 1, 1], [0, 1, -2]])
def test_selections_that_leave_an_index_out_stay(indexes):
    assert_stays(SelectsToUnbind(), selects(indexes))


def slices(ranges: list[tuple[int, int]]) -> str:
    lines = [
        sliced(f"s{n}", "x", f"y{n}", -1, start, end, "#x=(3,8)f32")
        for n, (start, end) in enumerate(ranges)
    ]
    outputs = " ".join(f"y{n}" for n in range(len(ranges)))
    return "\n".join(
        ["pnnx.Input in 0 1 x #x=(3,8)f32", *lines, f"pnnx.Output out {len(ranges)} 0 {outputs}"]
    )


def test_slices_that_cover_a_dim_are_a_split():
    assert_becomes(
        SlicesToTensorSplit(),
        graph(slices([(-2, END), (3, -2), (0, 3)])),
        """
        pnnx.Input in 0 1 x #x=(3,8)f32
        torch.tensor_split t 1 3 x a b c dim=1 indices=(3,-2) #x=(3,8)f32
        pnnx.Output out 3 0 c b a
        """,
    )


def test_a_slice_that_overlaps_the_split_stays():
    made = graph(slices([(0, 4), (4, 8), (1, 2)]))
    assert SlicesToTensorSplit()(made) == 1
    assert len(made.of_type("Tensor.slice")) == 1
    assert made.of_type("torch.tensor_split")[0].params["indices"] == (4,)


def test_a_dim_may_be_split_twice():
    made = graph(slices([(0, 5), (0, 4), (4, 8), (0, 2), (2, 6), (6, END)]))
    assert SlicesToTensorSplit()(made) == 2
    splits = [op.params["indices"] for op in made.of_type("torch.tensor_split")]
    assert splits == [(4,), (2, 6)]
    assert [op.name for op in made.of_type("Tensor.slice")] == ["s0"]


@pytest.mark.parametrize(
    "ranges", [[(0, 3), (3, 7)], [(0, 3), (4, 8)], [(0, 8)], [(0, 4), (3, 8)], [(1, 4), (4, 8)]]
)
def test_slices_with_a_gap_stay(ranges):
    assert_stays(SlicesToTensorSplit(), slices(ranges))
