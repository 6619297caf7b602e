"""`.pnnx.param`: what is written is read back, malformed text is refused with file and line."""

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from converter.errors import ConvertError, UnsupportedError
from converter.ir import DTYPES, Attribute, Graph
from converter.pnnx.param import NoData, read_param, write_param

TEXT = """\
7767517
5 5
pnnx.Input               pnnx_input_0             0 1 0 #0=(1,?,16)f32
nn.Linear                layer.fc                 1 1 0 1 bias=False in_features=16 out_features=8 \
@weight=(8,16)f32 #0=(1,?,16)f32 #1=(1,?,8)f32
nn.MultiheadAttention    mha                      2 2 1 0 2 3 embed_dim=8 @out_proj.bias=(8)f32 \
$attn_mask=0 #1=(1,?,8)f32 #0=(1,?,16)f32 #2=(1,?,8)f32
torch.eq                 torch.eq_0               2 1 2 2 4 $input=2 $other=2 #2=(1,?,8)f32 \
#2=(1,?,8)f32 #4=(1,?,8)bool
pnnx.Output              pnnx_output_0            1 0 4 #4=(1,?,8)bool
"""


def written(graph: Graph) -> str:
    stream = io.StringIO()
    write_param(graph, stream)
    return stream.getvalue()


def test_a_graph_is_read():
    graph = read_param(TEXT, "m.param")
    graph.check()
    linear, mha, eq = graph.operators[1:4]
    assert linear.params == {"bias": False, "in_features": 16, "out_features": 8}
    assert linear.attrs["weight"].shape == (8, 16)
    assert linear.attrs["weight"].dtype == "f32"
    assert mha.input_names == ["", "attn_mask"]
    assert list(mha.attrs) == ["out_proj.bias"]
    assert eq.input("input") is eq.input("other") is mha.outputs[0]
    assert (eq.outputs[0].shape, eq.outputs[0].dtype) == ((1, "?", 8), "bool")
    assert (mha.outputs[1].shape, mha.outputs[1].dtype) == (None, None)


def test_what_is_read_is_written():
    assert written(read_param(TEXT, "m.param")) == TEXT


def test_tensors_have_no_values_without_their_bin():
    weight = read_param(TEXT, "m.param").operators[1].attrs["weight"]
    with pytest.raises(ConvertError, match=r"read the \.pnnx\.bin"):
        weight.array()


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("7767517", "7767518", 1, "first line is not 7767517"),
        ("5 5\n", "5\n", 2, "numbers of operators and operands"),
        ("5 5\n", "6 5\n", 2, "6 and 5 operators and operands expected, 5 and 5 found"),
        ("0 1 0 #0", "0 x 0 #0", 3, "numbers of inputs and outputs"),
        ("1 1 0 1 bias", "1 9 0 1 bias", 4, "layer.fc names 8 operands, not 10"),
        ("1 1 0 1 bias", "1 1 9 1 bias", 4, "operand 9 is read before it is written"),
        ("1 1 0 1 bias", "1 1 0 0 bias", 4, "operand '0' exists already"),
        ("layer.fc ", "pnnx_input_0 ", 4, "two operators are called pnnx_input_0"),
        ("bias=False", "bias", 4, "'bias' is not key=value"),
        ("bias=False", "1=False", 4, "'1=False' is not key=value"),
        ("bias=False", "bias=(1", 4, "'\\(1' is not a tuple"),
        ("bias=False", "in_features=1", 4, "in_features is given twice"),
        ("@weight=(8,16)f32", "@weight=(8,?)f32", 4, "not an attribute's shape"),
        ("@weight=(8,16)f32", "@weight=(8,16)null", 4, "not an attribute's shape"),
        ("@weight=(8,16)f32", "@weight=(8,16)f31", 4, "'f31' is not a dtype"),
        ("@weight=(8,16)f32", "@weight=(8,,16)f32", 4, "not a shape and a dtype"),
        ("@weight=(8,16)f32", "@weight=(-8,16)f32", 4, "not a shape and a dtype"),
        ("#1=(1,?,8)f32\n", "#4=(1,?,8)f32\n", 4, "operand 4 is read before"),
        ("$attn_mask=0", "$attn_mask=3", 5, "does not read operand 3 as attn_mask"),
        ("$input=2 $other=2", "$input=2 $input=2", 6, "two inputs are called input"),
    ],
)
def test_malformed_text_is_refused_with_its_line(old, new, line, message):
    broken = TEXT.replace(old, new, 1)
    assert broken != TEXT
    with pytest.raises(ConvertError, match=message) as error:
        read_param(broken, "dir/m.param")
    assert str(error.value).startswith(f"dir/m.param:{line}: ")
    assert "\n" not in str(error.value)


@given(st.text(alphabet="0123456789 .=(),$#@?abf\n", max_size=60))
def test_any_text_is_read_or_refused(tail):
    try:
        graph = read_param(f"7767517\n1 1\npnnx.Input in 0 1 0\n{tail}", "m.param")
    except ConvertError as e:
        assert re.match(r"m\.param:\d+: ", str(e))  # noqa: PT017
    else:
        graph.check()


# --- writing


VALUES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.sampled_from(["zeros", "torch.float", "ij->ji"])
    | st.lists(st.integers() | st.floats(allow_nan=False), max_size=3).map(tuple)
)
SHAPES = st.lists(st.integers(0, 9) | st.just("?"), max_size=4).map(tuple)
NAMES = st.from_regex(r"[a-z_][a-z0-9_]{0,5}(\.[a-z]{1,3})?", fullmatch=True)


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    graph = Graph()
    source = graph.operand("x", draw(st.none() | SHAPES))
    source.dtype = draw(st.sampled_from(sorted(DTYPES))) if source.shape is not None else None
    graph.add("pnnx.Input", "in", [], [source])
    for index in range(draw(st.integers(0, 4))):
        known = list(graph.operands.values())
        inputs = draw(st.lists(st.sampled_from(known), max_size=3))
        outputs = [graph.operand(f"o{index}_{k}") for k in range(draw(st.integers(0, 2)))]
        sizes = st.lists(st.integers(0, 3), max_size=3).map(tuple)
        attrs = draw(st.dictionaries(NAMES, st.tuples(st.sampled_from(sorted(DTYPES)), sizes)))
        graph.add(
            draw(st.sampled_from(["torch.add", "nn.Linear", "aten::log2"])),
            f"op{index}",
            inputs,
            outputs,
            input_names=[f"arg_{k}" for k in range(len(inputs))] if draw(st.booleans()) else [],
            params=draw(st.dictionaries(NAMES, VALUES, max_size=4)),
            attrs={key: Attribute(dtype, shape, NoData()) for key, (dtype, shape) in attrs.items()},
        )
    return graph


@given(graphs())
def test_any_graph_is_read_back(graph):
    text = written(graph)
    read = read_param(text, "m.param")
    read.check()
    assert written(read) == text
    for old, new in zip(graph.operators, read.operators, strict=True):
        assert (new.type, new.name, new.params) == (old.type, old.name, old.params)
        assert list(map(repr, new.params.values())) == [
            repr(old.params[key]) for key in sorted(old.params)
        ]
        assert (new.input_names or [""] * len(new.inputs)) == (
            old.input_names or [""] * len(old.inputs)
        )
        assert {key: (a.dtype, a.shape) for key, a in new.attrs.items()} == {
            key: (a.dtype, a.shape) for key, a in old.attrs.items()
        }
        for before, after in zip(old.inputs + old.outputs, new.inputs + new.outputs, strict=True):
            assert (after.shape, after.dtype) == (before.shape, before.dtype)


def test_symbolic_dims_are_question_marks_and_scalars_have_empty_shapes():
    graph = Graph()
    graph.add("pnnx.Input", "in", [], [graph.operand("x", ("2*s0+1", 4), "f16")])
    graph.add("torch.sum", "sum", [graph.operands["x"]], [graph.operand("y", (), "f16")])
    assert "#0=(?,4)f16 #1=()f16\n" in written(graph)


@given(st.text(min_size=1, max_size=12), st.text(min_size=1, max_size=12))
def test_names_from_programs_stay_one_word_and_apart(first, second):
    graph = Graph()
    for name in (first, second):
        graph.add("torch.rand", name, [], [graph.operand(f"o{len(graph.operators)}")])
    lines = written(graph).split("\n")[2:4]
    assert [len(line.split()) for line in lines] == [5, 5]
    assert lines[0].split()[1] != lines[1].split()[1]
    assert not set("/\\\0") & set(written(graph))
    read_param(written(graph), "m.param").check()


def test_a_param_that_would_not_be_read_back_is_refused():
    graph = Graph()
    graph.add("torch.einsum", "einsum_0", params={"equation": "ij, jk -> ik"})
    with pytest.raises(
        UnsupportedError, match=r"torch\.einsum einsum_0 to a \.param: its equation"
    ):
        written(graph)


@pytest.mark.parametrize(
    ("type", "key"),
    [("torch add", "dim"), ("torch.add\n", "dim"), ("torch.add", "a b"), ("torch.add", "@a")],
)
def test_a_type_or_key_that_is_no_word_is_refused(type, key):
    graph = Graph()
    graph.add(type, "op", params={key: 1})
    with pytest.raises(UnsupportedError, match="cannot write"):
        written(graph)


def test_an_expression_stays_text_whatever_it_looks_like():
    graph = Graph()
    for index, text in enumerate(["0.5", "True", "[1,2]", "add(@0,1)", "(@0,1)"]):
        graph.add(
            "pnnx.Expression", f"e{index}", [], [graph.operand(str(index))], params={"expr": text}
        )
    read = read_param(written(graph), "m.param")
    assert [op.params["expr"] for op in read.operators] == [
        op.params["expr"] for op in graph.operators
    ]
