"""The table of schemas against the torch that runs the tests."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import msgspec
import pytest
import torch

from converter import load
from converter.aten import schema_table
from converter.aten.generate_schemas import Installed, merged
from converter.aten.schema_table import MISSING, Argument, OpSchema, Type, parse, release, schema

TENSOR = Type("Tensor")
OWN = release(torch.__version__)


def test_a_schema() -> None:
    assert schema("torch.ops.aten.conv2d.padding") == OpSchema(
        "aten",
        "conv2d",
        "padding",
        (
            Argument("input", TENSOR),
            Argument("weight", TENSOR),
            Argument("bias", Type("Tensor", optional=True), None),
            Argument("stride", Type("int", is_list=True, size=2), (1, 1)),
            Argument("padding", Type("str"), "valid"),
            Argument("dilation", Type("int", is_list=True, size=2), (1, 1)),
            Argument("groups", Type("int"), 1),
        ),
        (TENSOR,),
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Tensor(a!) self", Type("Tensor", alias="a", mutated=True)),
        ("Tensor(a -> *) self", Type("Tensor", alias="a")),
        ("Tensor(a!)[] self", Type("Tensor", is_list=True, alias="a", mutated=True)),
        ("Tensor?[] indices", Type("Tensor", is_list=True, optional_elements=True)),
        ("Tensor?[]? x", Type("Tensor", is_list=True, optional=True, optional_elements=True)),
        ("SymInt[2]? size", Type("int", is_list=True, size=2, optional=True)),
        ("int[1]? dim", Type("int", is_list=True, size=1, optional=True)),
        ("float[]? scales", Type("float", is_list=True, optional=True)),
        ("ScalarType? dtype", Type("ScalarType", optional=True)),
        ("SymBool b", Type("bool")),
    ],
)
def test_types(text: str, expected: Type) -> None:
    (argument,) = parse(f"aten::f({text}) -> ()").arguments
    assert argument.type == expected
    assert argument.default is MISSING


@pytest.mark.parametrize(
    ("text", "default"),
    [
        ("float eps=1.0000000000000001e-05", 1e-05),
        ("float alpha=1", 1.0),
        ("Scalar alpha=1", 1),
        ("Scalar beta=1.", 1.0),
        ("bool? flag=False", False),
        ("int[2] padding=0", (0, 0)),
        ("int[] dim=[-2, -1]", (-2, -1)),
        ("int[2] stride=[]", ()),
        (r'str a="\"\'\\, b"', "\"'\\, b"),
        ("ScalarType? dtype=4", "i64"),
        ("MemoryFormat memory_format=0", "contiguous_format"),
        ("Tensor? weight=None", None),
    ],
)
def test_defaults(text: str, default: object) -> None:
    before, middle, after = parse(f"aten::f(int a, {text}, *, int z) -> (Tensor x, int)").arguments
    assert middle.default == default
    assert isinstance(middle.default, type(default))
    assert (before.kwarg_only, middle.kwarg_only, after.kwarg_only) == (False, False, True)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "# torch",
        "aten::f",
        "aten::f(t[] a) -> t[]",
        "aten::f(Dict(str, Tensor) a) -> ()",
        "aten::f(Tensor[][] a) -> ()",
        "aten::f(Tensor a) -> Tensor[][]",
        "aten::f(Tensor a) -> Any",
        "aten::f(Tensor a",
        "aten::f(Tensor a) ->",
    ],
)
def test_what_is_no_schema(line: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse(line)


@pytest.mark.parametrize(
    "target",
    [
        "",
        "torch.ops",
        "torch.ops.aten.conv2d",
        "torch.ops.aten.conv2d.nothing",
        "torch.ops.higher_order.cond",
        "torch.ops.mine.op.default",
        "torch.relu",
        "os.system",
        "_operator.getitem",
    ],
)
def test_unknown_targets(target: str) -> None:
    assert schema(target) is None


def test_python_functions_are_told_apart() -> None:
    function = schema("_operator.mul")
    assert function is not None
    assert function.is_python
    assert [argument.name for argument in function.arguments] == ["a", "b"]
    for target in ("math.trunc", "math.ceil", "torch.sym_max", "torch._sym_sqrt", "torch.sym_not"):
        found = schema(target)
        assert found is not None
        assert found.is_python
    operator = schema("torch.ops.aten.mul.Tensor")
    assert operator is not None
    assert not operator.is_python


def test_mutation() -> None:
    for target, mutates in (
        ("torch.ops.aten.relu_.default", True),
        ("torch.ops.aten.add.out", True),
        ("torch.ops.aten.batch_norm.default", False),
        ("torch.ops.aten.view.default", False),
    ):
        found = schema(target)
        assert found is not None
        assert found.mutates == mutates


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("2.7.1+cu126", (2, 7)),
        ("2.14.0a0+git1234", (2, 14)),
        ("3.0", (3, 0)),
        ("", None),
        ("2", None),
        ("nightly", None),
        ("9999.1", None),
    ],
)
def test_releases(version: str, expected: object) -> None:
    assert release(version) == expected


NEWEST = {
    "aten::gelu": "aten::gelu(Tensor self, *, str approximate='none', int more=1) -> Tensor",
    "aten::add.Tensor": "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
}
MIDDLE = {
    "aten::gelu": "aten::gelu(Tensor self, *, str approximate='tanh') -> Tensor",
    "aten::qr": "aten::qr(Tensor self, bool some=True) -> (Tensor Q, Tensor R)",
    "aten::sum.dim_DimnameList": "aten::sum.dim_DimnameList(Tensor self, str[1] dim) -> Tensor",
}
OLDEST = {
    "aten::gelu": "aten::gelu(Tensor x, *, str approximate='tanh') -> Tensor",
    "aten::add.Tensor": "aten::add.Tensor(Tensor self, Tensor other) -> Tensor",
    "aten::qr": "aten::qr(Tensor self, bool some=False) -> (Tensor Q, Tensor R)",
}


@pytest.fixture
def merged_table(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The table of three torches."""
    made = [Installed((2, 5), OLDEST), Installed((2, 14), NEWEST), Installed((2, 8), MIDDLE)]
    lines = list(merged(made))
    table = {line[: line.index("(")]: line for line in lines[1:]}
    monkeypatch.setattr(schema_table, "_table", lambda: table)
    for name in ("schema", "_releases"):
        monkeypatch.setattr(schema_table, name, getattr(schema_table, name).__wrapped__)
    return lines


def test_earlier_torches_are_told_where_they_differ(merged_table: list[str]) -> None:
    assert merged_table == [
        "# torch 2.14 2.8 2.5",
        NEWEST["aten::add.Tensor"],
        NEWEST["aten::gelu"],
        MIDDLE["aten::qr"],
        f"until 2.8 {MIDDLE['aten::gelu']}",
        f"until 2.5 {OLDEST['aten::gelu']}",
        f"until 2.5 {OLDEST['aten::qr']}",
    ]


@pytest.mark.parametrize(
    ("made_by", "names", "approximate"),
    [
        (None, ["self", "approximate", "more"], "none"),
        ((2, 15), ["self", "approximate", "more"], "none"),
        ((2, 9), ["self", "approximate", "more"], "none"),
        ((2, 8), ["self", "approximate", "more"], "tanh"),
        ((2, 6), ["self", "approximate", "more"], "tanh"),
        ((2, 5), ["x", "approximate", "more"], "tanh"),
        ((2, 4), ["x", "approximate", "more"], "tanh"),
    ],
)
def test_the_defaults_of_a_release(
    merged_table: list[str], made_by: object, names: list[str], approximate: str
) -> None:
    found = schema_table.schema("torch.ops.aten.gelu.default", made_by)
    assert found is not None
    assert [argument.name for argument in found.arguments] == names
    defaults = {argument.name: argument.default for argument in found.arguments}
    assert defaults["approximate"] == approximate
    assert defaults["more"] == 1


@pytest.mark.parametrize(("version", "approximate"), [("2.8.0+cpu", "tanh"), ("2.9.1", "none")])
def test_an_archive_has_the_defaults_of_its_own_torch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, approximate: str
) -> None:
    line = "until 2.8 aten::gelu(Tensor self, *, str approximate='tanh') -> Tensor"
    table = {**schema_table._table(), "until 2.8 aten::gelu": line}
    monkeypatch.setattr(schema_table, "_table", lambda: table)
    monkeypatch.setattr(schema_table, "_releases", lambda: ((2, 8),))
    schema_table.schema.cache_clear()
    try:
        path = tmp_path / "m.pt2"
        torch.export.save(torch.export.export(torch.nn.GELU(), (torch.rand(3),)), path)
        with zipfile.ZipFile(path) as file:
            entries = {name: file.read(name) for name in file.namelist()}
        with zipfile.ZipFile(path, "w") as file:
            for name, content in entries.items():
                ours = torch.__version__.encode()
                file.writestr(name, content.replace(ours, version.encode()))
        (gelu,) = [op for op in load(path).operators if "elu" in op.type.lower()]
        assert gelu.params.get("approximate", "none") == approximate
    finally:
        schema_table.schema.cache_clear()


def all_schemas() -> dict[str, torch.FunctionSchema]:
    """Every operator of this torch that the table has, by its target."""
    known = {}
    for found in torch._C._jit_get_all_schemas():
        namespace, _, name = found.name.partition("::")
        if namespace in ("aten", "prims"):
            target = f"torch.ops.{namespace}.{name}.{found.overload_name or 'default'}"
            if schema(target, OWN) is not None:
                known[target] = found
    return known


def test_the_table_agrees_with_torch() -> None:
    """Structure, defaults and mutation, as torch's own parser sees them."""
    known = all_schemas()
    assert len(known) > 3500
    for target, theirs in known.items():
        ours = schema(target, OWN)
        assert ours is not None
        later = ours.arguments[len(theirs.arguments) :]
        ours = msgspec.structs.replace(ours, arguments=ours.arguments[: len(theirs.arguments)])
        assert all(argument.default is not MISSING for argument in later), target
        assert [a.name for a in ours.arguments] == [a.name for a in theirs.arguments], target
        assert len(ours.returns) == len(theirs.returns), target
        for mine, other in zip(ours.arguments, theirs.arguments, strict=True):
            assert mine.kwarg_only == other.kwarg_only, target
            assert mine.type.mutated == (other.alias_info is not None and other.alias_info.is_write)
            assert (mine.default is not MISSING) == other.has_default_value(), (target, mine.name)
            kind = other.real_type
            assert mine.type.optional == isinstance(kind, torch.OptionalType), (target, mine.name)
            if mine.type.optional:
                kind = kind.getElementType()
            assert mine.type.is_list == isinstance(kind, torch.ListType), (target, mine.name)
            if mine.default is not MISSING and mine.type.base not in ("ScalarType", "MemoryFormat"):
                default = other.default_value
                if isinstance(default, list):
                    default = tuple(default)
                assert mine.default == default, (target, mine.name)
                assert mine.type.base == "float" or type(mine.default) is type(default), target


def test_the_core_operators_are_in_the_table() -> None:
    packets = [getattr(torch.ops.aten, name) for name in dir(torch.ops.aten)]
    core = [
        f"torch.ops.{getattr(packet, overload)}"
        for packet in packets
        if isinstance(packet, torch._ops.OpOverloadPacket)
        for overload in packet.overloads()
        if torch.Tag.core in getattr(packet, overload).tags
    ]
    assert len(core) > 150
    for target in core:
        assert schema(target) is not None, target


def test_looking_up_is_cheap() -> None:
    """In a fresh process: the table is read once, and only what is asked for is parsed."""
    code = """
import time
from converter.aten.schema_table import schema
start = time.perf_counter()
for name in ("conv2d", "batch_norm", "relu", "max_pool2d", "linear", "flatten", "softmax"):
    schema(f"torch.ops.aten.{name}.default")
print(time.perf_counter() - start)
"""
    seconds = min(
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)
        for _ in range(3)
    )
    assert seconds < 0.015
