"""The shapes that the caller gives: how they are written, and how they fit a program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.export import Dim

from converter import UsageError, load
from converter.shapes import InputShape, parse_shapes, read_npy_shapes


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("[1,3,224,224]", [InputShape((1, 3, 224, 224))]),
        ("[1,3]f32,[2]i64", [InputShape((1, 3), "f32"), InputShape((2,), "i64")]),
        ("[ 1 , 3 ] , [2]", [InputShape((1, 3)), InputShape((2,))]),
        ("[]", [InputShape(())]),
        ("[0,2]bf16", [InputShape((0, 2), "bf16")]),
    ],
)
def test_shapes_as_pnnx_writes_them(text: str, shapes: list[InputShape]) -> None:
    assert list(parse_shapes(text)) == shapes
    assert parse_shapes(",".join(map(str, shapes))) == tuple(shapes)


@pytest.mark.parametrize("text", ["", "1,3", "[1,3", "[1,-3]", "[1;3]", "[1],", "[a]", "[1] [2]"])
def test_what_is_no_shape(text: str) -> None:
    with pytest.raises(UsageError, match=r"inputshape=.* cannot be read; write inputshape="):
        parse_shapes(text)


def test_an_unknown_dtype_is_named() -> None:
    with pytest.raises(UsageError, match=r"'f31' is no dtype; one of f32 "):
        parse_shapes("[1]f31")


def test_shapes_of_npy_files(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.zeros((2, 3), np.int64))
    np.save(tmp_path / "f.npy", np.asfortranarray(np.zeros((2, 3), bool)))
    np.save(tmp_path / "scalar.npy", np.float32(1))
    paths = [tmp_path / f"{name}.npy" for name in ("a", "f", "scalar")]
    shapes = InputShape((2, 3), "i64"), InputShape((2, 3), "bool"), InputShape((), "f32")
    assert read_npy_shapes(paths) == shapes


def test_files_that_hold_no_array_of_numbers_are_named(tmp_path: Path) -> None:
    np.save(tmp_path / "text.npy", np.zeros((), "S3"))
    np.save(tmp_path / "swapped.npy", np.zeros(2, ">f4"))
    np.save(tmp_path / "objects.npy", np.array([{}]), allow_pickle=True)
    np.save(tmp_path / "fields.npy", np.zeros(2, [("a", "f4")]))
    np.savez(tmp_path / "several.npy", a=np.zeros(2))
    (tmp_path / "several.npy.npz").rename(tmp_path / "several.npy")
    np.save(tmp_path / "cut.npy", np.zeros(9))
    (tmp_path / "cut.npy").write_bytes((tmp_path / "cut.npy").read_bytes()[:-1])
    (tmp_path / "words.npy").write_bytes(b"not a file of NumPy's")
    (tmp_path / "empty.npy").touch()
    said = {
        "text": "has the dtype |S3, which pnnx lacks",
        "swapped": "has the dtype >f4, which pnnx lacks",
        "objects": "has the dtype object, which pnnx lacks",
        "fields": "has the dtype [('a', '<f4')], which pnnx lacks",
        "several": "is no .npy file; write it with numpy.save",
        "cut": "is cut off",
        "words": "is no .npy file",
        "empty": "is no .npy file",
        "missing": "No such file",
    }
    for name, words in said.items():
        with pytest.raises(UsageError) as error:
            read_npy_shapes([tmp_path / f"{name}.npy"])
        assert words in str(error.value)
        assert f"{name}.npy" in str(error.value)
        assert "pickle" not in str(error.value)


class Halves(nn.Module):
    """Works for even sizes only, larger than 3."""

    def forward(self, x: torch.Tensor, y: dict[str, torch.Tensor]) -> torch.Tensor:
        size = x.shape[0]
        return x.reshape(size // 2, 2, -1).sum(1) + y["half"] if size > 3 else x


def exported(path: Path, dims: Any, *, strict: bool = False) -> Path:
    inputs = (torch.zeros(8, 3), {"half": torch.zeros(4, 3)})
    program = torch.export.export(Halves(), inputs, dynamic_shapes=dims, strict=strict)
    torch.export.save(program, path / "model.pt2")
    return path / "model.pt2"


AUTO = {"x": {0: Dim.AUTO}, "y": {"half": {0: Dim.AUTO}}}


@pytest.mark.parametrize("strict", [False, True])
def test_dynamic_dims_take_the_sizes_that_are_given(tmp_path: Path, strict: bool) -> None:
    model = exported(tmp_path, AUTO, strict=strict)
    graph = load(model, inputshape="[12,3],[6,3]")
    shapes = [op.outputs[0].shape for op in graph.operators if op.outputs]
    assert shapes[:2] == [(12, 3), (6, 3)]
    assert shapes[-1] == (6, 3)


def test_files_give_shapes_and_are_named_where_they_do_not_fit(tmp_path: Path) -> None:
    model = exported(tmp_path, AUTO)
    for name, rows in (("x", 12), ("y", 6), ("z", 5)):
        np.save(tmp_path / f"{name}.npy", np.zeros((rows, 3), np.float32))
    x, y, z = (f"{tmp_path}/{name}.npy" for name in "xyz")
    for files in (f"{x},{y}", [x, y]):
        assert load(model, input=files).operators[0].outputs[0].shape == (12, 3)
    with pytest.raises(UsageError, match=r"^input: .*(violate|does not fit)"):
        load(model, input=f"{x},{z}")
    with pytest.raises(UsageError, match=r"^input2: .*(violate|does not fit)"):
        load(model, input=[x, y], input2=[x, z])
    with pytest.raises(UsageError, match=r"^both inputshape2 and input2 are given; give one"):
        load(model, inputshape2="[12,3],[6,3]", input2=[x, y])


class Variadic(nn.Module):
    def forward(self, x_0: torch.Tensor, *xs: torch.Tensor) -> torch.Tensor:
        return x_0.reshape(x_0.shape[0] // 2, -1).sum() + xs[1].reshape(2 * xs[1].shape[0], -1)


@pytest.mark.parametrize("strict", [False, True])
def test_conditions_on_variadic_arguments(tmp_path: Path, strict: bool) -> None:
    inputs = (torch.zeros(8, 3), torch.zeros(2), torch.zeros(4, 6))
    dims = ({0: Dim.AUTO}, ({}, {0: Dim.AUTO, 1: Dim.AUTO}))
    program = torch.export.export(Variadic(), inputs, dynamic_shapes=dims, strict=strict)
    torch.export.save(program, tmp_path / "model.pt2")
    graph = load(tmp_path / "model.pt2", inputshape="[6,3],[2],[5,8]")
    assert [op.outputs[0].shape for op in graph.operators if op.outputs][-1] == (10, 4)
    with pytest.raises(UsageError, match=r"violate|does not fit"):
        load(tmp_path / "model.pt2", inputshape="[6,3],[2],[5,7]")


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        ("[12,3]", r"has 1 shapes, the model 2 tensor inputs; give one for each of x, y_half"),
        ("[12,3],[6]", r"\[6\] has 1 dims, y_half 2"),
        ("[12,3]i64,[6,3]", r"\[12,3\]i64 is for x, whose dtype is f32"),
        ("[12,4],[6,3]", r"\[12,4\] does not fit x, which was exported as \[12,3\]"),
        ("[12,3],[5,3]", r"violate|does not fit"),
        ("[2,3],[1,3]", r"is 2, outside of|violate|does not fit"),
        ("[9,3],[4,3]", r"violate|does not fit"),
        (f"[{10**20},3],[{10**20 // 2},3]", r"no machine holds x of \[10+,3\]"),
    ],
)
def test_shapes_that_do_not_fit(tmp_path: Path, shapes: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        load(exported(tmp_path, AUTO), inputshape=shapes)


def test_dims_stay_dynamic_where_no_shapes_are_given_or_two_differ(tmp_path: Path) -> None:
    model = exported(tmp_path, AUTO)
    x, half = load(model).operators[:2]
    assert x.outputs[0].shape == (x.outputs[0].shape[0], 3)
    assert isinstance(x.outputs[0].shape[0], str)
    assert isinstance(half.outputs[0].shape[0], str)
    graph = load(model, inputshape="[12,3],[6,3]", inputshape2="[8,3],[4,3]")
    assert [type(dim) for dim in graph.operators[0].outputs[0].shape] == [str, int]
    assert graph.sizes[graph.operators[0].outputs[0].shape[0]] == 12
    graph = load(model, inputshape="[12,3],[6,3]", inputshape2="[12,3],[6,3]")
    assert graph.operators[0].outputs[0].shape == (12, 3)


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        ("[9,3],[4,3]", "inputshape2: .*violate|inputshape2: .*does not fit"),
        (
            "[12,4],[6,3]",
            r"inputshape2: .* does not fit x.*export it with dynamic_shapes for dim 1",
        ),
        ("[2,3],[1,3]", r"inputshape2: the dim s\d+ is \d, outside of \d…\d* that"),
    ],
)
def test_both_shapes_are_checked(tmp_path: Path, shapes: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        load(exported(tmp_path, AUTO), inputshape="[12,3],[6,3]", inputshape2=shapes)


def test_second_shapes_alone_are_compared_with_those_of_the_export(tmp_path: Path) -> None:
    graph = load(exported(tmp_path, AUTO), inputshape2="[12,3],[6,3]")  # 128 and 128 do not fit
    assert graph.sizes[str(graph.operators[0].outputs[0].shape[0])] == 8
    graph = load(exported(tmp_path, AUTO), inputshape2="[8,3],[4,3]")
    assert graph.operators[0].outputs[0].shape == (8, 3)


class Doubled(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.reshape(-1, 2, 3)[: x.shape[0] // 4]


def test_a_symbol_that_no_input_has_as_it_is(tmp_path: Path) -> None:
    half = Dim("half", min=4, max=32)
    program = torch.export.export(
        Doubled(), (torch.zeros(16, 3),), dynamic_shapes={"x": {0: 2 * half}}
    )
    model = tmp_path / "model.pt2"
    torch.export.save(program, model)
    assert load(model, inputshape=[[24, 3]]).operators[-1].inputs[0].shape == (6, 2, 3)
    with pytest.raises(UsageError, match=r"\[25,3\] does not fit x"):
        load(model, inputshape=[[25, 3]])
    with pytest.raises(UsageError, match=r"is 40, outside of 4…32"):
        load(model, inputshape=[[80, 3]])
