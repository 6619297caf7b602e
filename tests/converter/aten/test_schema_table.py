"""The table of schemas against the torch that runs the tests."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch

from converter.aten.schema_table import MISSING, Argument, OpSchema, Type, parse, schema

TENSOR = Type("Tensor")


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


def all_schemas() -> dict[str, torch.FunctionSchema]:
    """Every operator of this torch that the table has, by its target."""
    known = {}
    for found in torch._C._jit_get_all_schemas():
        namespace, _, name = found.name.partition("::")
        if namespace in ("aten", "prims"):
            target = f"torch.ops.{namespace}.{name}.{found.overload_name or 'default'}"
            if schema(target) is not None:
                known[target] = found
    return known


def test_the_table_agrees_with_torch() -> None:
    """Structure, defaults and mutation, as torch's own parser sees them."""
    known = all_schemas()
    assert len(known) > 3500
    for target, theirs in known.items():
        ours = schema(target)
        assert ours is not None
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
