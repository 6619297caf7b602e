"""Modules and operators that the user keeps: layers that the user gives to ncnn."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ncnn
import numpy as np
import pytest
import torch

import converter
from suites.frontends import import_generated
from suites.pnnx_program import convert as convert_with_pnnx

nn = torch.nn

torch.library.define("test_ncnn_kept::twice", "(Tensor x) -> Tensor")
torch.library.define("test_ncnn_kept::times", "(Tensor x, int count) -> Tensor")


@torch.library.impl("test_ncnn_kept::twice", "CompositeExplicitAutograd")
def twice(x: Any) -> Any:
    return x + x


@torch.library.impl("test_ncnn_kept::times", "CompositeExplicitAutograd")
def times(x: Any, count: int) -> Any:
    return x * count


class Mixed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.rand(8, 1, 1))
        self.register_buffer("order", torch.arange(8).flip(0))

    def forward(self, x: Any, y: Any) -> Any:
        return x[:, self.order] * self.scale + y, x - y


class Held(nn.Module):
    """Every dtype that a module may hold."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("small", torch.tensor([1.5, 2.5, -3]).half())
        self.register_buffer("wide", torch.tensor([1.5, 2.5]).double())
        self.register_buffer("flags", torch.tensor([True, False, True]))
        self.register_buffer("number", torch.tensor(2.0))
        self.linear = nn.Linear(4, 4)

    def forward(self, x: Any) -> Any:
        held = self.small.sum().float() + self.wide.sum().float() + self.number
        return self.linear(x) * self.flags.any().float() + held


class Network(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = nn.Conv2d(3, 8, 3), nn.Conv2d(8, 4, 1)
        self.mixed = Mixed()

    def forward(self, x: Any) -> Any:
        x = self.first(x)
        total, difference = self.mixed(x, x * 2)
        return self.last(total.relu()), difference


class Calls(nn.Module):
    def __init__(self, call: Any, **modules: Any) -> None:
        super().__init__()
        self.call = call
        for name, module in modules.items():
            self.add_module(name, module)

    def forward(self, *inputs: Any) -> Any:
        return self.call(self, *inputs)


def convert(model: Any, inputs: Sequence[Any], folder: Path, **options: Any) -> Any:
    with torch.no_grad():
        torch.export.save(torch.export.export(model.eval(), tuple(inputs)), folder / "model.pt2")
    return converter.convert(folder / "model.pt2", **options)


MIXED = f"{__name__}.Mixed"


class MixedLayer(ncnn.Layer):
    """What a user writes: reads the shapes and the values, computes on the blobs."""

    def __init__(self) -> None:
        super().__init__()
        self.one_blob_only = self.support_inplace = False

    def load_param(self, params: Any) -> int:
        assert params.get(10, ncnn.Mat()).numpy("i").tolist() == [8]
        assert params.get(11, ncnn.Mat()).numpy("i").tolist() == [8, 1, 1]
        return 0

    def load_model(self, weights: Any) -> int:
        self.order = weights.load(8, 1).numpy("i").copy()
        self.scale = weights.load(8, 1).numpy().copy().reshape(8, 1, 1)
        return 0

    def forward(self, bottoms: Any, tops: Any, options: Any) -> int:
        x, y = (np.array(blob) for blob in bottoms)
        results = [x[self.order] * self.scale + y, x - y]  # a Mat does not keep its array
        for place, values in enumerate(results):
            tops[place].clone_from(ncnn.Mat(values), options.blob_allocator)
        return 0


@pytest.mark.parametrize("fp16", [False, True])
def test_a_kept_module_is_the_users_layer(fp16: bool, tmp_path: Path) -> None:
    model, x = Network(), torch.rand(1, 3, 12, 10)
    converted = convert(model, [x], tmp_path, moduleop=[MIXED], fp16=fp16)
    assert converted.ncnn_refusal is None
    module = import_generated(tmp_path / "model_ncnn.py")
    with pytest.raises(RuntimeError, match=f"what makes and deletes a {MIXED}"):
        module.infer(x)
    alive = []
    module.LAYERS[MIXED] = (lambda: alive.append(MixedLayer()) or alive[-1], alive.remove)
    with torch.no_grad():
        expected = model(x)
    for left, right in zip(expected, module.infer(x), strict=True):
        torch.testing.assert_close(right, left, rtol=1e-3, atol=2e-3 if fp16 else 1e-5)


MODELS = {
    "images": (Network(), [(1, 3, 12, 10)]),
    "every rank": (
        Calls(lambda self, *inputs: tuple(self.held(x) for x in inputs), held=Held()),
        [(4,), (5, 4), (2, 5, 4), (3, 2, 5, 4)],
    ),
    "before an lstm": (
        Calls(lambda self, x: self.lstm(self.held(x))[0], held=Held(), lstm=nn.LSTM(4, 4)),
        [(5, 1, 4)],
    ),
    "before a convolution": (
        Calls(lambda self, x: self.conv(self.held(x)), held=Held(), conv=nn.Conv1d(5, 3, 1)),
        [(1, 5, 4)],
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_it_is_written_as_pnnx_writes_it(name: str, tmp_path: Path) -> None:
    model, shapes = MODELS[name]
    inputs = [torch.rand(shape) for shape in shapes]
    classes = [MIXED if name == "images" else f"{__name__}.Held"]
    ours, theirs = tmp_path / "model.ncnn.param", tmp_path / "theirs.ncnn.param"
    assert convert(model, inputs, tmp_path, moduleop=classes, fp16=False).ncnn_refusal is None
    with torch.no_grad():
        torch.jit.trace(model, tuple(inputs), check_trace=False).save(tmp_path / "theirs.pt")
    given = f"inputshape={','.join(str(list(shape)).replace(' ', '') for shape in shapes)}"
    words = ["fp16=0", f"moduleop={classes[0]}", given]
    convert_with_pnnx(tmp_path / "theirs.pt", words, [theirs], 60)
    assert kept(ours, classes[0]) == kept(theirs, classes[0]) != []
    assert ours.with_suffix(".bin").read_bytes() == theirs.with_suffix(".bin").read_bytes()
    pythons = [(tmp_path / f"{which}_ncnn.py").read_text() for which in ("model", "theirs")]
    assert batches(pythons[0]) == batches(pythons[1])


def kept(param: Path, type: str) -> list[list[str]]:
    """The numbers of inputs and outputs and the parameters of a kept layer."""
    lines = [line.split() for line in param.read_text().splitlines() if line.startswith(type)]
    return [[*words[2:4], *(word for word in words if "=" in word)] for words in lines]


def batches(python: str) -> list[str]:
    return re.findall(r"ex\.input\(.*batch_index=(\d+)", python)


def test_a_kept_operator_is_the_users_layer(tmp_path: Path) -> None:
    model = Calls(lambda self, x: torch.ops.test_ncnn_kept.twice(x).relu())
    converted = convert(model, [torch.rand(2, 3)], tmp_path, customop=["test_ncnn_kept.twice"])
    assert converted.ncnn_refusal is None
    text = (tmp_path / "model.ncnn.param").read_text()
    assert "pnnx.custom_op.test_ncnn_kept.twice twice" in " ".join(text.split())


class Many(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.held = nn.ParameterList(torch.rand(1) for _ in range(23))

    def forward(self, x: Any) -> Any:
        return x + torch.cat(list(self.held)).sum()


class ReLU(nn.Module):
    def forward(self, x: Any) -> Any:
        return x.relu() * 2


class Largest(nn.Module):
    def forward(self, x: Any) -> Any:
        return x.argmax(1)


class Beyond(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("large", torch.tensor([2**40, 1]))

    def forward(self, x: Any) -> Any:
        return x * self.large.float()


ReLU.__module__ = "__main__"


@pytest.mark.parametrize(
    ("model", "options", "why"),
    [
        (
            Many(),
            {"moduleop": [f"{__name__}.Many"]},
            "has 23 tensors, and an ncnn layer at most 22",
        ),
        (ReLU(), {"moduleop": ["ReLU"]}, "ncnn has a layer of that name"),
        (Largest(), {"moduleop": [f"{__name__}.Largest"]}, "makes i64, and ncnn holds floats"),
        (
            Calls(lambda self, x: torch.ops.test_ncnn_kept.times(x, 3)),
            {"customop": ["test_ncnn_kept.times"]},
            "arg_1 would be lost",
        ),
    ],
)
def test_what_no_layer_can_be(model: Any, options: Any, why: str, tmp_path: Path) -> None:
    inner = Calls(lambda self, x: self.inner(x), inner=model)
    converted = convert(inner, [torch.rand(2, 2)], tmp_path, **options)
    assert why in str(converted.ncnn_refusal)


def test_integers_beyond_32_bits_are_refused(tmp_path: Path) -> None:
    model = Calls(lambda self, x: self.inner(x), inner=Beyond())
    converted = convert(model, [torch.rand(2, 2)], tmp_path, moduleop=[f"{__name__}.Beyond"])
    assert "beyond 32 bits" in str(converted.ncnn_refusal)
