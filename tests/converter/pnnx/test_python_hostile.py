"""Nothing in a graph, whatever it says, makes `_pnnx.py` do more than a module does."""

import ast
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from converter.errors import ConvertError, UnsupportedError
from converter.ir import Attribute, Graph
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
    *("torch.tensor", "tensor.is_complex", "tensor.is_floating_point"),
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
TYPES = st.sampled_from(
    [
        "nn.Linear", "nn.LSTM", "nn.MultiheadAttention", "F.relu", "torch.topk", "torch.cat",
        "Tensor.reshape", "Tensor.slice", "Tensor.slice_copy", "Tensor.index", "Tensor.index_put",
        "pnnx.Attribute", "pnnx.Expression", "pnnx.SliceIndexes", "prim::TupleConstruct",
        "prim::DictConstruct", "torch.where", "torch.einsum", "F.upsample", "Tensor.to",
    ]
)  # fmt: skip
KEYS = st.sampled_from(["dim", "start", "end", "expr", "equation", "dims", "indexes", "shape"])
VALUES = st.recursive(
    TEXTS | st.integers() | st.floats() | st.none() | st.booleans() | st.complex_numbers(),
    lambda inner: st.lists(inner, max_size=3).map(tuple),
    max_leaves=4,
)


@st.composite
def hostile_graphs(draw: st.DrawFn) -> Graph:
    graph = Graph()
    graph.add("pnnx.Input", draw(TEXTS), [], [graph.operand(draw(TEXTS), (2, "s0"), "f32")])
    for index in range(draw(st.integers(1, 4))):
        known = list(graph.operands.values())
        inputs = draw(st.lists(st.sampled_from(known), max_size=3))
        names = draw(st.lists(KEYS | TEXTS, min_size=len(inputs), max_size=len(inputs)))
        names = draw(st.sampled_from([[], names, ["input", *names[1:]] if inputs else []]))
        outputs = [graph.fresh(f"{draw(TEXTS)}{index}") for _ in range(draw(st.integers(1, 2)))]
        attrs = draw(st.dictionaries(TEXTS | st.just("weight"), st.just("f32"), max_size=2))
        graph.add(
            draw(TYPES) if draw(st.integers(0, 4)) else draw(TEXTS),
            draw(TEXTS),
            inputs,
            outputs,
            input_names=names,
            params=draw(st.dictionaries(KEYS | TEXTS, VALUES, max_size=3)),
            attrs={key: Attribute(dtype, (2,), NoData()) for key, dtype in attrs.items()},
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
