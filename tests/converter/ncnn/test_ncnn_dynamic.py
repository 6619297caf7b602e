"""Networks whose dims are dynamic: converted once, run by ncnn at several sizes."""

from __future__ import annotations

import ast
import importlib.util
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import converter
from converter.arithmetic import evaluate
from converter.dims import simplify
from converter.ncnn.blob import Blob
from converter.ncnn.sizes import Sizes

F = torch.nn.functional

RTOL, ATOL = 1e-3, 1e-3
"""Convolutions of ncnn round more than PyTorch's; a wrong size is wrong in all digits."""


class Convolutional(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = torch.nn.Sequential(
            torch.nn.Conv2d(3, 8, 3, padding=1),
            torch.nn.BatchNorm2d(8),
            torch.nn.ReLU(),
            torch.nn.MaxPool2d(2),
        )
        self.head = torch.nn.Linear(8, 5)

    def forward(self, x: Any) -> Any:
        y = self.body(x)
        z = F.interpolate(y, size=x.shape[2:], mode="bilinear", align_corners=False) + x[:, :1]
        up = F.interpolate(y, scale_factor=2.0)[:, :, : z.shape[2], : z.shape[3]]
        return self.head(torch.flatten(F.adaptive_avg_pool2d(z + up, 1), 1)), z


class Calls(torch.nn.Module):
    def __init__(self, call: Callable[..., Any]) -> None:
        super().__init__()
        self.call = call


class One(Calls):
    def forward(self, x: Any) -> Any:
        return self.call(x)


class Two(Calls):
    def forward(self, x: Any, y: Any) -> Any:
        return self.call(x, y)


def resized(x: Any) -> Any:
    return (
        F.interpolate(x, size=(x.shape[2] * 2, x.shape[3] + 3), mode="bilinear"),
        F.interpolate(x, size=(x.shape[2] // 2, 7)),
        F.interpolate(F.avg_pool2d(x, 2), size=x.shape[2:]),
        F.interpolate(F.conv2d(x[:, :1], torch.ones(2, 1, 3, 3), stride=2, padding=1), (9, 9)),
        F.interpolate(x, size=((x.shape[2] - 1) // 2 + 1, 4)),
        F.adaptive_avg_pool2d(x, (2, 3)),
        F.pad(x, (1, 2, 0, 1)),
    )


def sequence(x: Any) -> Any:
    batch, length, width = x.shape
    q = x.reshape(batch, length, 4, width // 4).transpose(1, 2)
    y = (q @ q.transpose(-1, -2)).softmax(-1) @ q
    return (
        y.transpose(1, 2).reshape(batch, length, width),
        x.mean(1),
        x.flatten(1),
        x[:, -1],
        x[:, 1:],
        x.transpose(1, 2),
        torch.cat([x, x[:, 1:]], 1),
        F.layer_norm(x, (width,)),
    )


def cut(x: Any) -> Any:
    length = x.shape[1]
    return (
        x[:, : length - 1],
        x[:, length // 2 :],
        x[:, -length // 2 :],
        x[:, 2:-1],
        x[:, 1 : length // 2 + 1],
        x.narrow(1, 1, length - 2),
        x.select(1, length - 2),
    )


def counted(x: Any) -> Any:
    """Ranges, fills, expansions and divisions by what is dynamic."""
    height, width = x.shape[2:]
    rows, columns = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
    across, down = torch.meshgrid(
        torch.arange(width) / width, torch.arange(1, height + 1, 2) * 0.5, indexing="xy"
    )
    grid = torch.stack((columns, rows), 2).expand(1, 3, height, width, 2).float()
    low, high = x.split((height // 2, height - height // 2), 2)
    return (
        grid * 2 - 0.5,
        across,
        down,
        torch.full((height * width, 1), 8.0),
        torch.ones(height, width) * x + torch.zeros_like(x),
        x.mean((2, 3), keepdim=True).expand_as(x),
        x.sum(2) / height + x.shape[3] // 2,
        low,
        high + 1,
        F.glu(x[:, :2], 1),
        x.var((2, 3)),
        x.std(2, keepdim=True, unbiased=False),
        F.channel_shuffle(x.repeat(1, 2, 1, 1), 3),
    )


def enlarged(x: Any) -> Any:
    """Sizes by a factor are products of sizes."""
    return F.interpolate(x, scale_factor=2, mode="bicubic") + F.pixel_shuffle(
        torch.cat([x, x, x, x], 1), 2
    )


def scaled(x: Any) -> Any:
    """By 7 / 3, rounded to single precision, 27 rows become less than 63."""
    modes = (("bilinear", 7 / 3), ("bicubic", 7 / 3), ("nearest", 1.2))
    return tuple(F.interpolate(x, scale_factor=factor, mode=mode) for mode, factor in modes)


def pyramid(x: Any) -> Any:
    """Sizes that are equal as the program was exported, and spelled otherwise."""
    half = F.max_pool2d(x, 2)
    quarter = F.max_pool2d(half, 2)
    return half + F.interpolate(quarter, scale_factor=2)


def other_size(x: Any, y: Any) -> Any:
    return x[:, : y.shape[1]] * 2, torch.cat([x, y], 1), F.interpolate(x[:, None], y.shape[1:])


class Mixed(torch.nn.Module):
    """Moves what is the batch of an image layer."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 8, 3, padding=1)
        self.head = torch.nn.Linear(8, 5)

    def forward(self, x: Any) -> Any:
        y = self.conv(x)
        rows = y.permute(0, 2, 3, 1).reshape(-1, 8)
        tokens = y.flatten(2).transpose(1, 2)
        return self.head(rows), tokens, y.permute(1, 0, 2, 3).flatten(1), tokens.flatten(0, 1)


class Rows(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = torch.nn.Linear(16, 8), torch.nn.Linear(8, 16)
        self.norm = torch.nn.LayerNorm(16)

    def forward(self, x: Any) -> Any:
        return x + self.second(F.gelu(self.first(self.norm(x))))


def encoder() -> Any:
    layer = torch.nn.TransformerEncoderLayer(16, 4, 32, batch_first=True)
    return torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)


IMAGES = [(1, 3, 16, 12)], [(1, 3, 20, 32)], [(1, 3, 10, 14)]
FOURFOLD = [(1, 3, 16, 12)], [(1, 3, 20, 32)]
THIRDS = [(1, 3, 9, 10)], [(1, 3, 27, 51)]
BATCHES = [(2, 3, 16, 12)], [(3, 3, 20, 32)]
SEQUENCES = [(1, 8, 16)], [(1, 12, 16)], [(1, 5, 16)]
SEVERAL = [(2, 8, 16)], [(3, 12, 16)]
PAIRS = [(2, 8, 16), (2, 3, 16)], [(2, 12, 16), (2, 5, 16)]


def folder_module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def save(model: Any, shapes: Sequence[Sequence[tuple[int, ...]]], folder: Path) -> Path:
    dims = tuple(
        {
            axis: torch.export.Dim.DYNAMIC
            for axis in range(len(same[0]))
            if len({one[axis] for one in same}) > 1
        }
        for same in zip(*shapes, strict=True)
    )
    inputs = tuple(map(torch.rand, shapes[0]))
    program = torch.export.export(model.eval(), inputs, dynamic_shapes=dims, strict=False)
    torch.export.save(program, folder / "model.pt2")
    return folder / "model.pt2"


@pytest.mark.parametrize(
    ("model", "shapes"),
    [
        (Convolutional(), IMAGES),
        (Convolutional(), BATCHES),
        (Mixed(), IMAGES),
        (Mixed(), BATCHES),
        (One(resized), IMAGES),
        (One(resized), BATCHES),
        (One(counted), IMAGES),
        (One(counted), BATCHES),
        (One(enlarged), IMAGES),
        (One(scaled), THIRDS),
        (One(pyramid), FOURFOLD),
        (One(sequence), SEQUENCES),
        (One(sequence), SEVERAL),
        (One(cut), SEQUENCES),
        (One(cut), SEVERAL),
        (Two(other_size), PAIRS),
        (Rows(), SEVERAL),
        (encoder(), SEQUENCES),
        (encoder(), SEVERAL),
    ],
)
def test_a_network_runs_at_every_size(model: Any, shapes: Any, tmp_path: Path) -> None:
    path = save(model, shapes, tmp_path)
    given = [",".join(f"[{','.join(map(str, one))}]" for one in some) for some in shapes[:2]]
    converted = converter.convert(path, inputshape=given[0], inputshape2=given[1], fp16=False)
    assert converted.ncnn_refusal is None
    module = folder_module(tmp_path / "model_ncnn.py")
    module.test_inference()
    for some in shapes:
        inputs = [torch.rand(one) for one in some]
        with torch.no_grad():
            expected = model(*inputs)
        actual = module.infer(*inputs)
        pairs = zip(expected, actual, strict=True) if isinstance(expected, tuple) else []
        for left, right in pairs or [(expected, actual)]:
            np.testing.assert_allclose(right.numpy(), left.numpy(), RTOL, ATOL)


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (lambda x: torch.arange(x.shape[1]) // 2, "computes in i64, and ncnn in floats"),
        (lambda x: torch.arange(x.shape[1] // 2, 20), "start depends on dynamic sizes"),
        (lambda x: (x, x.shape[1]), "returns a number that follows from sizes"),
        (lambda x: x.chunk(2, 1)[0], "needs fixed sizes"),
        (lambda x: x[:, ::2], "needs fixed sizes"),
        (lambda x: F.pad(x, (0, 0, 0, x.shape[1])), "pad depends on dynamic sizes"),
        (lambda x: F.interpolate(x.mT, scale_factor=0.7, mode="linear"), "makes another size"),
        (lambda x: x[:, (x.shape[1] - 3) // 2 :], "may be rounded up in ncnn"),
    ],
)
def test_what_ncnn_cannot_express_of_sizes_is_refused(call: Any, why: str, tmp_path: Path) -> None:
    path = save(One(call), ([(1, 8, 16)], [(1, 12, 16)]), tmp_path)
    converted = converter.convert(path, inputshape="[1,8,16]", inputshape2="[1,12,16]")
    assert why in str(converted.ncnn_refusal)


SIZES = ("s0", "s1")
NATURALS = st.recursive(
    st.sampled_from(SIZES) | st.integers(0, 9).map(str),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+*-"), inner).map(lambda t: f"({''.join(t)})"),
        st.tuples(inner, st.integers(1, 5)).map(lambda t: f"({t[0]}//{t[1]})"),
        st.tuples(inner, st.integers(1, 5)).map(lambda t: f"({t[0]}%{t[1]})"),
        st.tuples(inner, inner).map(lambda t: f"Max({t[0]},{t[1]})"),
    ),
    max_leaves=6,
)


@given(NATURALS, st.integers(1, 40), st.integers(1, 40))
def test_expressions_are_what_the_dims_are(text: str, s0: int, s1: int) -> None:
    dim = simplify(text, {})
    blob = Blob(None, (3, "s0", "s1"))
    try:
        written = Sizes(blob, []).write([dim])
    except ValueError:
        return  # it may be negative where ncnn rounds up
    values = {"s0": s0, "s1": s1}
    wanted = dim if isinstance(dim, int) else evaluate(ast.parse(dim, mode="eval").body, values)
    assert by_ncnn(written, {"0c": 3, "0h": s0, "0w": s1}) == wanted


def by_ncnn(text: str, sizes: dict[str, int]) -> int:
    """Work out an expression as ncnn does: from its end, with C's division."""
    stack: list[int] = []
    functions = {
        "+": lambda a, b: a + b,
        "-": lambda a, b: a - b,
        "*": lambda a, b: a * b,
        "//": lambda a, b: int(a / b),
        "remainder": lambda a, b: a % b,
        "max": max,
        "min": min,
    }
    for token in reversed(text.replace("(", " ").replace(")", " ").replace(",", " ").split()):
        if token == "neg":
            stack.append(-stack.pop())
        elif token in functions:
            stack.append(functions[token](stack.pop(), stack.pop()))
        else:
            stack.append(sizes[token] if token in sizes else int(token))
    (value,) = stack
    return value
