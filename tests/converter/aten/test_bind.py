"""Bound arguments against torch's own reading of the same programs, and refusals."""

from __future__ import annotations

import operator
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.export import Dim

from converter.archive import read_program
from converter.archive.program import Node
from converter.archive.values import Device, Layout, MemoryFormat, SymRef, TensorRef
from converter.aten.bind import bind
from converter.aten.schema_table import OpSchema, parse, schema
from converter.errors import UnsupportedError, Where

DTYPES = {
    torch.float32: "f32",
    torch.float64: "f64",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.int64: "i64",
    torch.int32: "i32",
    torch.bool: "bool",
}


class Many(nn.Module):
    """Calls with arguments of every type, given and left out."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, padding="same")
        self.norm = nn.BatchNorm2d(4)
        self.gru = nn.GRU(4, 5)
        self.scale = nn.Buffer(torch.rand(4, 1, 1))

    def forward(self, x: torch.Tensor, y: torch.Tensor, d: torch.Tensor) -> tuple[Any, ...]:
        z = self.norm(self.conv(x))
        z = F.avg_pool2d(z, 2) + F.max_pool2d(z, (2, 2), stride=1, padding=1)[:, :, :4, :4]
        z = F.interpolate(z, scale_factor=2.0, mode="bilinear", align_corners=False)
        z = F.pad(z, (1, 1, 0, 2), value=1)
        z = F.layer_norm(z, z.shape[-1:], eps=1e-3)
        z = F.gelu(z, approximate="tanh") + 2 * z - 1.5
        z = torch.clamp(z, max=3)
        w = z.to(torch.float16).to(memory_format=torch.channels_last).contiguous()
        i = torch.arange(4, dtype=torch.int32)
        picked = z[:, i.long()][..., None]
        summed = z.sum((1, 2), keepdim=True, dtype=torch.float64)
        parts = torch.split(z, [1, 3], dim=1)
        joined = torch.cat([*parts, z], 1)
        e = torch.einsum("bchw,bkhw->bck", z, z)
        filled = torch.full((2, 3), float("-inf")).masked_fill(torch.zeros(3) == 0, 1.0)
        mean = torch.std(z, dim=-1, correction=0) + torch.linalg.norm(z, ord=2, dim=(1, 2)).mean()
        a, h = self.gru(y)
        new = torch.zeros_like(d, dtype=torch.bool) | torch.ones(d.shape[0], 1).bool()
        flat = d.expand(3, -1, -1).reshape(3, d.shape[0] * 4) * d.shape[0]
        top, _ = torch.topk(y, 2, dim=-1, largest=False)
        att = F.scaled_dot_product_attention(y, y, y, is_causal=True, scale=0.5)
        return (
            *(w, picked, summed, joined, e, filled, mean, a, h, new, flat, top, att),
            torch.stft(y.flatten(), 4, window=torch.ones(4), return_complex=True).abs(),
        )


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = torch.export.export(
        Many().eval(),
        (torch.rand(1, 3, 8, 8), torch.rand(6, 2, 4), torch.rand(6, 4)),
        dynamic_shapes={"x": None, "y": None, "d": {0: 2 * Dim("half", min=2, max=50)}},
    )
    path = tmp_path_factory.mktemp("bind") / "m.pt2"
    torch.export.save(program, path)
    return path


def plain(value: Any) -> Any:
    """torch's value of an argument, written as ours."""
    if isinstance(value, torch.fx.Node):
        meta = value.meta["val"]
        symbolic = isinstance(meta, torch.SymInt | torch.SymFloat | torch.SymBool | int | float)
        return SymRef(value.name) if symbolic else TensorRef(value.name)
    if isinstance(value, list | tuple):
        return tuple(map(plain, value))
    if isinstance(value, torch.dtype):
        return DTYPES[value]
    if isinstance(value, torch.device):
        return Device(value.type, value.index)
    if isinstance(value, torch.memory_format):
        return MemoryFormat(str(value).removeprefix("torch."))
    if isinstance(value, torch.layout):
        return Layout(str(value).removeprefix("torch."))
    return value


def expected(node: torch.fx.Node) -> dict[str, Any]:
    """All arguments of a call as torch has them, defaults from torch's own schema."""
    values: dict[str, Any] = {}
    for position, argument in enumerate(node.target._schema.arguments):
        if position < len(node.args) and not argument.kwarg_only:
            value = node.args[position]
        elif argument.name in node.kwargs:
            value = node.kwargs[argument.name]
        elif argument.name == "memory_format" and argument.default_value == 0:  # c10's number
            value = torch.contiguous_format
        else:
            value = argument.default_value
        values[argument.name] = plain(value)
    return values


def test_binds_as_torch_does(exported: Path) -> None:
    graph = torch.export.load(exported).graph
    calls = [
        node
        for node in graph.nodes
        if node.op == "call_function" and node.target is not operator.getitem
    ]
    compared = 0
    with read_program(exported) as program:
        assert len(program.body.nodes) == len(calls)
        for node, theirs in zip(program.body.nodes, calls, strict=True):
            known = schema(node.target)
            assert known is not None, node.target
            bound = bind(node, known)
            if known.is_python:
                assert list(bound.values()) == list(map(plain, theirs.args))
                continue
            assert node.target == str(theirs.target).replace("aten.", "torch.ops.aten.")
            wanted = expected(theirs)
            assert bound == wanted, node.target
            assert list(bound) == list(wanted)
            compared += 1
    assert compared > 50


def node(target: str, **inputs: Any) -> Node:
    return Node(target, "n", tuple(inputs.items()), (), Where("net.py", 3, "y = f(x)"), ())


def function(arguments: str) -> OpSchema:
    return parse(f"aten::f({arguments}) -> Tensor")


X = TensorRef("x")


@pytest.mark.parametrize(
    ("arguments", "value", "bound"),
    [
        ("float v", 1, 1.0),
        ("float v", True, 1.0),
        ("float? v", None, None),
        ("int v", True, 1),
        ("bool v", 1, True),
        ("Scalar v", 1, 1),
        ("Scalar v", True, True),
        ("Scalar v", 1.0, 1.0),
        ("Scalar v", 1j, 1j),
        ("Tensor v", 2, 2),
        ("Tensor v", X, X),
        ("SymInt v", SymRef("s"), SymRef("s")),
        ("int[2] v", 3, (3, 3)),
        ("int[] v", 3, (3,)),
        ("SymInt[] v", (1, SymRef("s")), (1, SymRef("s"))),
        ("float[] v", (1, 2.5), (1.0, 2.5)),
        ("Tensor?[] v", (None, X), (None, X)),
        ("int[2]? v", None, None),
        ("ScalarType v", "f32", "f32"),
        ("Device? v", Device("cpu"), Device("cpu")),
        ("MemoryFormat v", MemoryFormat.channels_last, MemoryFormat.channels_last),
    ],
)
def test_fits_values_to_their_types(arguments: str, value: Any, bound: Any) -> None:
    result = bind(node("f", v=value), function(arguments))["v"]
    assert result == bound
    assert type(result) is type(bound)


@pytest.mark.parametrize(
    ("arguments", "inputs", "text"),
    [
        ("Tensor x", {}, "argument x is missing"),
        ("Tensor x", {"x": X, "y": 1}, "unknown argument 'y'"),
        ("Tensor x", {"x": X, "": 1}, "unknown argument ''"),
        ("Tensor x", {"x": None}, "argument x is None, which is no Tensor"),
        ("Tensor[] x", {"x": (X, None)}, "argument x is None"),
        ("int v", {"v": 1.5}, "argument v is 1.5, which is no int"),
        ("int v", {"v": "1"}, "no int"),
        ("int[] v", {"v": (1, "2")}, "no int"),
        ("int[] v", {"v": X}, "no int"),
        ("float v", {"v": "inf"}, "no float"),
        ("float v", {"v": (1.0,)}, "no float"),
        ("str v", {"v": 1}, "no str"),
        ("str v", {"v": MemoryFormat.channels_last}, "no str"),
        ("MemoryFormat v", {"v": "channels_last"}, "no MemoryFormat"),
        ("bool v", {"v": 0.0}, "no bool"),
        ("Generator? v", {"v": 1}, "no Generator"),
        ("Tensor v", {"v": {"a": 1}}, "no Tensor"),
    ],
)
def test_refuses(arguments: str, inputs: dict[str, Any], text: str) -> None:
    with pytest.raises(UnsupportedError, match=text) as caught:
        bind(node("torch.ops.aten.f.default", **inputs), function(arguments))
    assert "torch.ops.aten.f.default" in str(caught.value)
    assert "net.py:3 `y = f(x)`" in str(caught.value)


def test_repeated_arguments_are_refused() -> None:
    twice = Node("f", "n", (("x", X), ("x", X)), (), None, ())
    with pytest.raises(UnsupportedError, match="argument x is given twice"):
        bind(twice, function("Tensor x"))
