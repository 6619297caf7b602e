"""Nothing in a graph, whatever it says, makes `_pnnx.py` do more than a module does."""

import ast
import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from converter.errors import ConvertError, UnsupportedError
from converter.ir import Attribute, Graph, Param
from converter.pnnx.callables import CALLABLES
from converter.pnnx.expression import FUNCTIONS
from converter.pnnx.param import NoData
from converter.pnnx.python import write_python

IMPORTS = {"math", "os", "zipfile", "torch", "torch.nn", "torch.nn.functional", "pnnx"}
BUILTINS = {"abs", "complex", "float", "getattr", "int", "len", "max", "memoryview", "min", "round"}
OWN = {
    *("Model", "_inputs", "_model", "export_pnnx", "net", "print", "super", "test_inference"),
    *("Model().eval", "archive.getinfo", "archive.open", "entry.readinto", "pnnx.export"),
    *("os.path.abspath", "os.path.dirname", "os.path.join", "zipfile.ZipFile", "ValueError"),
    *("nn.Parameter", "super().__init__", "torch.clamp", "torch.export.export"),
    *("torch.export.save", "torch.jit.trace", "torch.jit.trace(net, _inputs()).save"),
    *("torch.manual_seed", "torch.no_grad", "torch.onnx.export", "torch.ops.aten.index_put"),
    *("torch.ops.ns.name", "torch.tensor", "tensor.is_complex", "tensor.is_floating_point"),
    *("tensor.reshape", "tensor.reshape(-1).view", "tensor.reshape(-1).view(torch.uint8).numpy"),
}
FUNCTION_CALLS = {t.partition("(")[0] for pair in FUNCTIONS.values() for t in pair if t}
METHODS = {type.removeprefix("Tensor.") for type in CALLABLES if type.startswith("Tensor.")}


def source(graph: Graph, bin_name: str = "m.pnnx.bin", stem: str = "m_pnnx") -> str:
    stream = io.StringIO()
    write_python(graph, stream, bin_name, stem)
    return stream.getvalue()


def check(text: str) -> None:
    """Assert that a module's source imports, calls and assigns what it may, and nothing else."""
    assert text.isascii()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            assert {alias.name for alias in node.names} <= IMPORTS
        elif isinstance(node, ast.Call):
            check_call(ast.unparse(node.func))
        elif isinstance(node, ast.Attribute):
            assert not node.attr.startswith("__") or node.attr == "__init__"
        assert not isinstance(node, ast.ImportFrom | ast.Lambda | ast.Global | ast.Await)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            assert node.id.startswith(("v_", "e_", "_")) or node.id in LOCALS
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            assert ast.unparse(node).startswith("self.")


LOCALS = {"archive", "data", "entry", "folder", "has_grad", "net", "program", "tensor"}


def check_call(callee: str) -> None:
    owner, _, name = callee.rpartition(".")
    assert (
        callee in CALLABLES | BUILTINS | OWN | FUNCTION_CALLS
        or (owner == "self" and name.isidentifier())
        or (owner.startswith("v_") and owner.isidentifier() and name in METHODS | {"clone", "size"})
    ), callee


NASTY = [
    "'", '"', "\\", "\n", "\r", "\0", "é", "\u2028", "{", "}", "{0}", "%s", "#", ";", "()",
    "__class__", "class", "forward", "import os", "os.system('x')", "');import os;('", "..", "_x",
    "torch.load", "1", "a.b", "a_b", "load_pnnx_bin_as_tensor", "\ud800", "${x}", "v_0", "self",
]  # fmt: skip
TEXTS = (
    st.sampled_from(NASTY)
    | st.text(max_size=8)
    | st.lists(st.sampled_from(NASTY), max_size=3).map("".join)
)
VALUES = st.recursive(
    TEXTS | st.integers() | st.floats() | st.none() | st.booleans() | st.complex_numbers(),
    lambda inner: st.lists(inner, max_size=3).map(tuple),
    max_leaves=4,
)
SLICE = {"dim": 0, "start": 0, "end": 2, "step": 1}
OPERATORS: list[tuple[str, str, dict[str, Param], int]] = [
    ("nn.Linear", ":", {"in_features": 2, "out_features": 2, "bias": False}, 1),
    ("nn.LSTM", ":", {"input_size": 2, "hidden_size": 2}, 3),
    ("nn.MultiheadAttention", ": attn_mask", {"embed_dim": 2, "num_heads": 1}, 2),
    ("nn.AdaptiveAvgPool2d", ":", {"output_size": (0, 2)}, 1),
    ("F.pad", "input", {"pad": (1, 2), "mode": "reflect", "value": None}, 1),
    ("F.upsample", "input", {"mode": "bilinear", "size": (7, 9)}, 1),
    ("torch.topk", "input", {"dim": 1, "k": 2}, 2),
    ("torch.where", "condition input", {"other": 0.5}, 1),
    ("torch.cat", ": :", {"dim": 0}, 1),
    ("torch.einsum", ": :", {"equation": "ij,jk->ik"}, 1),
    ("torch.split", "tensor", {"split_size_or_sections": 1, "dim": 0}, 2),
    ("Tensor.reshape", "input", {"shape": (1, -1)}, 1),
    ("Tensor.to", "input", {"dtype": "torch.long", "copy": False}, 1),
    ("Tensor.slice", "input", {**SLICE}, 1),
    ("Tensor.slice", "input", {"dims": (0, 1), "starts": (0, 1), "selects": (1, 2147483647)}, 1),
    ("Tensor.slice_copy", "self src", {**SLICE}, 1),
    ("Tensor.index", "input", {"expr": "[None,[0,2]]"}, 1),
    ("Tensor.index_put", "input indices", {"values": 1.5, "accumulate": False}, 1),
    ("pnnx.Expression", ": :", {"expr": "add(mul(@0,2),size(@1,0))"}, 1),
    ("pnnx.SliceIndexes", ":", {"indexes": (1, "@0")}, 1),
    ("pnnx.custom_op.ns.name", "arg_0", {"arg_1": "text"}, 1),
    ("prim::TupleConstruct", ": :", {}, 1),
    ("prim::DictConstruct", ": :", {}, 1),
    ("pnnx.Attribute", "", {}, 1),
]
"""Type, names of the inputs (`:` for none), params, number of outputs."""


@st.composite
def hostile_graphs(draw: st.DrawFn) -> Graph:
    """A graph that could be written, but for hostile texts in some places of it."""
    graph = Graph()
    hostile = st.sampled_from([False, False, False, True])

    def maybe(good: Param, bad: st.SearchStrategy[Any]) -> Any:
        return draw(bad) if draw(hostile) else good

    graph.add("pnnx.Input", draw(TEXTS), [], [graph.operand(draw(TEXTS), (2, "s0"), "f32")])
    for type, names, params, results in draw(st.lists(st.sampled_from(OPERATORS), max_size=4)):
        read = [maybe(name.strip(":"), TEXTS) for name in names.split()]
        known = st.sampled_from(list(graph.operands.values()))
        holds = maybe(type in ("nn.Linear", "pnnx.Attribute"), st.booleans())
        attr = maybe("data" if type == "pnnx.Attribute" else "weight", TEXTS)
        graph.add(
            maybe(type, TEXTS),
            draw(TEXTS),
            [draw(known) for _ in read],
            [graph.fresh(draw(TEXTS)) for _ in range(results)],
            input_names=read,
            params={maybe(key, TEXTS): maybe(value, VALUES) for key, value in params.items()},
            attrs={attr: Attribute("f32", (2, 2), NoData())} if holds else {},
        )
    graph.add("pnnx.Output", "out", [list(graph.operands.values())[-1]])
    return graph


@given(hostile_graphs(), TEXTS, TEXTS)
def test_hostile_graphs_are_written_safely_or_refused(graph: Graph, bin_name: str, stem: str):
    try:
        text = source(graph, bin_name, stem)
    except ConvertError as e:
        assert "\n" not in str(e)  # noqa: PT017
    else:
        check(text)


@given(st.lists(TEXTS, min_size=1, max_size=6), TEXTS, TEXTS)
def test_any_names_of_modules_and_files_are_written(names: list[str], bin_name: str, stem: str):
    graph = Graph()
    value = graph.operand("x", (2, 3), "f32")
    graph.add("pnnx.Input", "in", [], [value])
    for index, name in enumerate(names):
        attrs = {"weight": Attribute("f32", (3, 3), NoData())}
        made = graph.operand(f"y{index}")
        params = {"in_features": 3, "out_features": 3, "bias": False}
        graph.add("nn.Linear", name, [value], [made], params=params, attrs=attrs)
        value = made
    graph.add("pnnx.Output", "out", [value])
    text = source(graph, bin_name, stem)
    check(text)
    made = [line.split(" = ")[0] for line in text.split("\n") if " = nn.Linear(" in line]
    assert len(set(made)) == len(names)


@pytest.mark.parametrize(
    "type",
    [
        "torch.load",
        "torch.save",
        "torch.os.system",
        "torch.hub.load",
        "torch.from_file",
        "torch.__class__",
        "torch.ops.aten.save",
        "Tensor.numpy",
        "Tensor.__reduce__",
        "Tensor.data_ptr",
        "nn.Module",
        "nn.modules.module.torch",
        "F.torch",
        "aten::log2",
        "os.system",
        "eval",
        "torch.relu()",
        "pnnx.custom_op.aten.save",
        "pnnx.custom_op.image.write_file",
        "pnnx.custom_op.my.op.more",
        "pnnx.custom_op.my.op()",
        "pnnx.custom_op._ns.op",
    ],
)
def test_what_is_no_operator_is_refused(type: str):
    graph = Graph()
    graph.add("pnnx.Input", "in", [], [graph.operand("x", (2,), "f32")])
    graph.add(type, "op", [graph.operands["x"]], [graph.operand("y")], input_names=["arg_0"])
    with pytest.raises(UnsupportedError, match="cannot write"):
        source(graph)


def test_custom_operators_are_called_by_position():
    graph = Graph()
    graph.add("pnnx.Input", "in", [], [graph.operand("x", (2,), "f32")])
    x = graph.operands["x"]
    params = {"arg_1": 0.5, "arg_10": 10, **{f"arg_{i}": i for i in range(3, 10)}}
    graph.add(
        "pnnx.custom_op.my_ns.my_op",
        "op",
        [x, x],
        [graph.operand("y")],
        input_names=["arg_0", "arg_2"],
        params=params,
    )
    text = source(graph)
    assert "v_1 = torch.ops.my_ns.my_op(v_0, 0.5, v_0, 3, 4, 5, 6, 7, 8, 9, 10)" in text
