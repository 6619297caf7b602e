"""Programs that torch exports, in all the ways that it does."""

from __future__ import annotations

import collections
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
from torch import nn
from torch.export import Dim, ExportedProgram

from converter.archive import Program, read_program
from converter.archive.program import (
    ConstantInput,
    OutputKind,
    Range,
    StoredKind,
    SymInput,
    TensorInput,
    TensorType,
)
from converter.archive.values import GraphRef, SymRef, TensorRef
from converter.errors import ArchiveError, UnsupportedError


class Pair(NamedTuple):
    first: torch.Tensor
    second: torch.Tensor


torch.utils._pytree._register_namedtuple(Pair, serialized_type_name="tests.Pair")


class Net(nn.Module):
    """Inputs and outputs of every kind."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.blocks = nn.ModuleList([nn.ReLU(), nn.Linear(4, 4)])
        self.register_buffer("mask", torch.ones(4), persistent=False)
        self.register_buffer("count", torch.zeros(4))
        self.table = torch.arange(4.0)

    def forward(
        self, x: torch.Tensor, more: dict[str, torch.Tensor], n: int, flag: bool = True, *, w: float
    ) -> Any:
        y = self.linear(self.linear(x)) + self.blocks[1](self.blocks[0](more["a"]))
        y = (y * self.mask + self.table + n).reshape(-1, x.shape[0] * 2)
        with torch.no_grad():
            z = y * w
        return {"y": y, "rest": [x, None]}, collections.OrderedDict(u=z, v=3), Pair(x, z)


def saved(path: Path, program: ExportedProgram) -> Program:
    torch.export.save(program, path)
    return read_program(path)


@pytest.fixture(scope="module")
def net(tmp_path_factory: pytest.TempPathFactory) -> Program:
    half = Dim("half", min=2, max=64)
    program = torch.export.export(
        Net(),
        (torch.rand(6, 4), {"a": torch.rand(6, 4)}, 3),
        {"flag": True, "w": 2.5},
        dynamic_shapes={
            "x": {0: 2 * half},
            "more": {"a": {0: 2 * half}},
            "n": Dim.DYNAMIC,
            "flag": None,
            "w": None,
        },
    )
    return saved(tmp_path_factory.mktemp("net") / "net.pt2", program)


def test_inputs(net: Program) -> None:
    x, a, n, flag, w = net.inputs
    assert isinstance(x, TensorInput)
    dim = x.type.shape[0]
    assert isinstance(dim, str)
    assert dim.startswith("2*s")
    assert x == TensorInput("x", TensorType((dim, 4), "f32"))
    assert a == TensorInput("more_a", TensorType((dim, 4), "f32"))
    assert isinstance(n, SymInput)
    assert flag == ConstantInput("flag", True)
    assert w == ConstantInput("w", 2.5)
    assert net.argument_names == ("x", "more", "n", "flag", "w")
    assert net.ranges[dim.removeprefix("2*")] == Range(2, 64)


def test_stored(net: Program) -> None:
    kinds = {found.fqn: (found.kind, found.persistent) for found in net.stored.values()}
    assert kinds == {
        "linear.weight": (StoredKind.parameter, True),
        "linear.bias": (StoredKind.parameter, True),
        "blocks.1.weight": (StoredKind.parameter, True),
        "blocks.1.bias": (StoredKind.parameter, True),
        "count": (StoredKind.buffer, True),
        "mask": (StoredKind.buffer, False),
        "table": (StoredKind.constant, False),
    }


def test_trees(net: Program) -> None:
    args, kwargs = net.in_spec.children
    assert [child.type for child in args.children] == ["", "builtins.dict", ""]
    assert args.children[1].keys == ("a",)
    assert kwargs.keys == ("flag", "w")
    mapping, ordered, pair = net.out_spec.children
    assert mapping.keys == ("y", "rest")
    assert mapping.children[1].type == "builtins.list"
    assert (ordered.type, ordered.keys) == ("collections.OrderedDict", ("u", "v"))
    assert (pair.type, pair.keys) == ("collections.namedtuple", ("first", "second"))


def test_outputs(net: Program) -> None:
    assert {output.kind for output in net.outputs} == {OutputKind.user}
    values = [output.value for output in net.outputs]
    assert values[1] == TensorRef("x")
    assert values[2] is None
    assert values[4] == 3
    assert values[3] == values[6]


def test_nodes(net: Program) -> None:
    linears = [node for node in net.body.nodes if node.target == "torch.ops.aten.linear.default"]
    assert [node.module and node.module[:2] for node in linears] == [
        ("linear", "torch.nn.modules.linear.Linear"),
        ("linear", "torch.nn.modules.linear.Linear"),
        ("blocks.1", "torch.nn.modules.linear.Linear"),
    ]
    assert len({node.module for node in linears}) == 3
    assert all(node.modules[0].fqn == "" for node in linears)
    for node in linears:
        assert node.where is not None
        assert node.where.file == __file__
        assert node.where.code.startswith("y = self.linear(self.linear(x))")
    (product,) = [node for node in net.body.nodes if node.target == "_operator.mul"]
    assert isinstance(product.inputs[0][1], SymRef)
    (result,) = product.outputs
    assert isinstance(result, SymRef)
    assert str(net.body.symbols[result.name]).startswith("4*s")
    (wrapped,) = [node for node in net.body.nodes if "set_grad" in node.target]
    (graph,) = [value for _, value in wrapped.inputs if isinstance(value, GraphRef)]
    assert [node.target for node in graph.body.nodes] == ["torch.ops.aten.mul.Tensor"]


class Counter(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x.mul_(2)
        self.count.add_(1)
        return x + self.count


def test_side_effects_of_a_decomposed_program(tmp_path: Path) -> None:
    program = torch.export.export(Counter(), (torch.rand(3),)).run_decompositions()
    with saved(tmp_path / "m.pt2", program) as read:
        effects = [(output.kind, output.target) for output in read.outputs]
        assert effects == [
            (OutputKind.buffer_mutation, "count"),
            (OutputKind.user_input_mutation, "x"),
            (OutputKind.user, ""),
        ]


class Branches(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x * 2, (x,))


def test_control_flow(tmp_path: Path) -> None:
    with saved(tmp_path / "m.pt2", torch.export.export(Branches(), (torch.rand(3),))) as read:
        assert read.out_spec.is_leaf
        (call,) = [node for node in read.body.nodes if node.target.endswith("higher_order.cond")]
        graphs = [value for _, value in call.inputs if isinstance(value, GraphRef)]
        assert [graph.body.nodes[-1].target for graph in graphs] == [
            "torch.ops.aten.add.Tensor",
            "torch.ops.aten.mul.Tensor",
        ]


class Lists(nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        a, _b, c = torch.split(x, [1, 2, 3])
        values, _ = torch.max(x, 0)
        return a, c, values


@pytest.mark.parametrize("strict", [False, True])
def test_results_that_are_lists_or_not_used(tmp_path: Path, strict: bool) -> None:
    program = torch.export.export(Lists(), (torch.rand(6, 2),), strict=strict)
    with saved(tmp_path / "m.pt2", program) as read:
        split, maximum = read.body.nodes
        (parts,) = split.outputs
        assert isinstance(parts, tuple)
        assert [read.body.tensors[part.name].shape for part in parts] == [(1, 2), (2, 2), (3, 2)]
        values, indices = maximum.outputs
        assert isinstance(values, TensorRef)
        assert isinstance(indices, TensorRef)
        assert read.body.tensors[indices.name] == TensorType((2,), "i64")
        assert split.where is not None
        assert split.where.code == "a, _b, c = torch.split(x, [1, 2, 3])"
        assert split.module is not None
        assert split.module.class_name.endswith("Lists")


class Eighth(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.to(torch.float8_e4m3fn).float()


def test_a_dtype_that_pnnx_lacks(tmp_path: Path) -> None:
    program = torch.export.export(Eighth(), (torch.rand(3),))
    torch.export.save(program, tmp_path / "m.pt2")
    with pytest.raises(UnsupportedError, match=r"float8_e4m3fn.*`return x\.to\(torch\.float8"):
        read_program(tmp_path / "m.pt2")


def test_several_programs_in_one_file(tmp_path: Path) -> None:
    program = torch.export.export(Lists(), (torch.rand(6, 2),))
    path = tmp_path / "m.pt2"
    torch.export.pt2_archive._package.package_pt2(
        path, exported_programs={"encoder": program, "decoder": program}
    )
    with pytest.raises(UnsupportedError, match=r"2 programs \(encoder, decoder\)"):
        read_program(path)
    torch.export.pt2_archive._package.package_pt2(path, exported_programs={"encoder": program})
    read_program(path).close()


def test_torch_script_is_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "m.pt"
    torch.jit.trace(nn.ReLU(), torch.rand(3)).save(path)
    with pytest.raises(ArchiveError, match="TorchScript"):
        read_program(path)
    torch.save({"w": torch.rand(3)}, path)
    with pytest.raises(ArchiveError, match="pickled tensors"):
        read_program(path)
