"""`pnnx.Expression` as Python; test_python_runs runs it on tensors."""

import ast
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from converter.pnnx.expression import FUNCTIONS, MAX_DEPTH, Code, Kind, translate

TENSORS = [Code("v_0", Kind.tensor), Code("v_1", Kind.tensor)]


def no_hoist(text: str) -> str:
    raise AssertionError(f"{text} was hoisted")


@pytest.mark.parametrize(
    ("text", "python", "kind"),
    [
        ("add(sub(mul(@0,2),1),@1)", "(((v_0 * 2) - 1) + v_1)", Kind.tensor),
        ("floor_divide(size(@0,1),2)", "(v_0.size(1) // 2)", Kind.number),
        ("sqrt(@0)", "torch.sqrt(v_0)", Kind.tensor),
        ("sqrt(size(@0,-1))", "math.sqrt(v_0.size((-1)))", Kind.number),
        ("[size(@0,0),-1]", "[v_0.size(0), (-1)]", Kind.list),
        ("[None,@1]", "[None, v_1]", Kind.list),
        ("[]", "[]", Kind.list),
        ("size(@0)", "v_0.size()", Kind.list),
        ("pow(-2,@0)", "((-2) ** v_0)", Kind.tensor),
        ("neg(-1.5)", "(-(-1.5))", Kind.number),
        ("mul(@0,1.000000e-5)", "(v_0 * 1e-05)", Kind.tensor),
        ("add(@0,inf)", '(v_0 + float("inf"))', Kind.tensor),
        ("add(@0,nan.0)", '(v_0 + float("nan"))', Kind.tensor),
        ("mul(@0,-0.000000e+00-1.500000e+00j)", "(v_0 * complex(-0.0, -1.5))", Kind.tensor),
        ("max(@0,@1)", "torch.maximum(v_0, v_1)", Kind.tensor),
        ("max(3,@0)", "torch.clamp(v_0, min=3)", Kind.tensor),
        ("minimum(@0,3)", "torch.clamp(v_0, max=3)", Kind.tensor),
        ("min(size(@0,0),3)", "min(v_0.size(0), 3)", Kind.number),
        ("int(@0)", "int(v_0)", Kind.number),
        ("None", "None", Kind.other),
        ("True", "True", Kind.number),
        ("reflect", "'reflect'", Kind.other),
        ("info", "'info'", Kind.other),
    ],
)
def test_expressions(text: str, python: str, kind: Kind) -> None:
    code = translate(text, TENSORS, no_hoist)
    assert (code.text, code.kind) == (python, kind)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "(",
        "add(@0,@1",
        "add(@0,@1))",
        "add(@0,@1]",
        "add(@0)",
        "add(@0,@1,@0)",
        "add(@0,)",
        "add(,@0)",
        "[1,]",
        "@0,@1",
        "@0 @1",
        "@0@1",
        "@2",
        "1x",
        "size(1,@0)",
        "size(@0,@1)",
        "sign(1)",
        "add([1],@0)",
        "add(None,@0)",
        "eval(@0)",
        "__import__(@0)",
        "torch.load(@0)",
        "os.system",  # a word stands alone, as a string
        "a b",
        "'a'",
        'a"b',
        "log1p),@0),@2),expm1",
        "[reflect]",
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    if text == "os.system":
        assert translate(text, [], no_hoist).text == "'os.system'"
        return
    with pytest.raises(ValueError, match=r"\w"):
        translate(text, TENSORS, no_hoist)


def test_items_of_a_list_are_told() -> None:
    code = translate("[None,@0,[1,2]]", TENSORS, no_hoist)
    assert [item.text for item in code.items] == ["None", "v_0", "[1, 2]"]


def test_deep_expressions_are_broken_into_lines() -> None:
    depth = 1000
    lines: list[str] = []

    def hoist(text: str) -> str:
        lines.append(f"e_{len(lines)} = {text}")
        return f"e_{len(lines) - 1}"

    code = translate("add(1," * depth + "@0" + ")" * depth, [Code("x", Kind.number)], hoist)
    assert len(lines) == depth // (MAX_DEPTH + 1)
    names: dict[str, int] = {"x": 5}
    exec("\n".join([*lines, f"result = {code.text}"]), names)
    assert names["result"] == depth + 5


NUMBERS = st.integers(-9, 9) | st.floats(-9, 9).map(lambda x: round(x, 3))
TREES = st.recursive(
    NUMBERS,
    lambda inner: st.tuples(
        st.sampled_from(["add", "sub", "mul", "max", "min", "neg"]), inner, inner
    ),
    max_leaves=12,
)
PYTHON = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "max": max,
    "min": min,
    "neg": lambda a, _: -a,
}


@given(TREES)
def test_numbers_are_computed_as_the_tree_says(tree) -> None:
    def text(node) -> str:
        if not isinstance(node, tuple):
            return repr(node)
        name, a, b = node
        return f"neg({text(a)})" if name == "neg" else f"{name}({text(a)},{text(b)})"

    def value(node):
        return PYTHON[node[0]](value(node[1]), value(node[2])) if isinstance(node, tuple) else node

    code = translate(text(tree), [], no_hoist)
    assert eval(code.text, {"math": math}) == value(tree)


@given(st.text(alphabet="@0123456789(),[].-+ej abdinfNone_'\"\\\n", max_size=30))
def test_any_text_makes_a_safe_expression_or_is_refused(text: str) -> None:
    try:
        code = translate(text, TENSORS, no_hoist)
    except ValueError:
        return
    for node in ast.walk(ast.parse(code.text, mode="eval")):
        if isinstance(node, ast.Call):
            assert ast.unparse(node.func) in CALLED or ast.unparse(node.func).endswith(".size")
        if isinstance(node, ast.Name):
            assert node.id in {"v_0", "v_1", "torch", "math", *BUILTINS}


BUILTINS = {"abs", "complex", "float", "int", "max", "min", "round"}
CALLED = BUILTINS | {
    template.partition("(")[0] for pair in FUNCTIONS.values() for template in pair if template
}
