"""Graphs that an export wraps, for torch.no_grad() and autocast, are opened."""

from __future__ import annotations

import pytest
import torch
from equality import convert
from torch import nn

from converter.archive.program import Body, Node, TensorType
from converter.archive.values import GraphRef, TensorRef, Value
from converter.aten.inline import ALIAS, AUTOCAST, GRAD, inline
from converter.errors import UnsupportedError, Where

x = torch.rand(2, 3)
y = torch.rand(2, 3)


class Wrapped(nn.Module):
    """Computes `text` of x and y, with gradients on while it is exported."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.code = compile(text, text, "exec")

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
        scope = {"torch": torch, "x": x, "y": y}
        exec(self.code, scope)
        return scope["result"]


def same(text: str) -> None:
    """Check that a wrapped computation converts, and computes the same."""
    module = Wrapped(text).eval()
    exported = torch.export.export(module, (x.clone(), y.clone()))
    assert any("wrap_with" in str(node.target) for node in exported.graph.nodes)
    expected = module(x.clone(), y.clone())
    for value, right in zip(convert(exported)(x.clone(), y.clone()), expected, strict=True):
        torch.testing.assert_close(value, right, rtol=0, atol=0)


def test_graphs_without_gradients() -> None:
    same("with torch.no_grad(): a = x + y\nresult = a, a * x")
    same("a = x * 2\nwith torch.no_grad(): b = a * 2; c = b * 2\nresult = a, b, c * b")


def test_graphs_in_graphs_and_after_graphs() -> None:
    same(
        "with torch.no_grad():\n"
        "    a = x * 2\n"
        "    with torch.enable_grad(): b = a * 2\n"
        "    a = a * b\n"
        "with torch.no_grad(): a = a * 2\n"
        "result = a, b"
    )
    same(
        "with torch.no_grad():\n"
        "    a = x * 2\n"
        "    with torch.autocast('cpu', enabled=False): b = a @ y.float().T\n"
        "result = a, b"
    )


def test_views_and_writes_pass_through_the_wrapper() -> None:
    same("a = x * 1\nwith torch.no_grad(): b = a[0]; a.add_(1)\nb.mul_(2)\nresult = a, b")
    same("a = x * 1\nb = a[0]\nwith torch.no_grad(): a.add_(1)\nresult = a, b")


def test_lists_of_results() -> None:
    same("with torch.no_grad(): a, b = (x * 2).split([1, 2], dim=1)\nresult = b, a")


def test_enabled_autocast_is_refused_with_its_line() -> None:
    module = Wrapped("with torch.autocast('cpu', torch.bfloat16): a = x @ y.T\nresult = a,")
    with pytest.raises(
        UnsupportedError, match=r"autocast chooses dtypes .*test_inline\.py:.*; convert the model"
    ):
        convert(torch.export.export(module, (x, y)))


# --- what torch does not make, but a file may hold

WHERE = Where("model.py", 3)
TYPE = TensorType((2,), "f32")


def ref(name: str) -> TensorRef:
    return TensorRef(name)


def body(inputs: str, nodes: list[Node], outputs: str) -> Body:
    made = [*inputs, *(value.name for node in nodes for value in node.outputs)]
    return Body(
        tuple(map(ref, inputs)),
        tuple(map(ref, outputs)),
        tuple(nodes),
        dict.fromkeys(made, TYPE),
        {},
        dict.fromkeys(made, (1,)),
    )


def add(left: str, right: str, result: str) -> Node:
    inputs = (("self", ref(left)), ("other", ref(right)))
    return Node("torch.ops.aten.add.Tensor", result, inputs, (ref(result),), WHERE, ())


def wrapper(arguments: list[Value], outputs: str, target: str = GRAD) -> Node:
    inputs = tuple(("", value) for value in arguments)
    return Node(target, "wrap", inputs, tuple(map(ref, outputs)), WHERE, ())


def calls(body: Body) -> list[str]:
    """The nodes as text: `c = add(a, b)`."""
    text = []
    for node in body.nodes:
        operator = "alias" if node.target == ALIAS else node.target.split(".")[3]
        arguments = ", ".join(value.name for _, value in node.inputs)
        text.append(f"{node.outputs[0].name} = {operator}({arguments})")
    return text


def test_names_stay_unique() -> None:
    inner = GraphRef("g", body("ab", [add("a", "b", "c"), add("c", "c", "d")], "d"))
    outer = body("ab", [wrapper([False, inner, ref("b"), ref("a")], "c")], "c")
    opened = inline(outer)
    assert calls(opened) == ["c_in_1 = add(b, a)", "c = add(c_in_1, c_in_1)"]
    assert opened.tensors["c_in_1"] == TYPE
    assert opened.strides["c_in_1"] == (1,)
    assert opened.outputs == outer.outputs


def test_inputs_that_are_returned_and_results_that_are_told_twice() -> None:
    inner = GraphRef("g", body("ab", [add("a", "b", "c")], "cac"))
    opened = inline(body("xy", [wrapper([True, inner, ref("x"), ref("y")], "pqr")], "pqr"))
    assert calls(opened) == ["p = add(x, y)", "q = alias(x)", "r = alias(p)"]


def test_a_body_without_wrappers_is_returned_as_it_is() -> None:
    plain = body("ab", [add("a", "b", "c")], "c")
    assert inline(plain) is plain


INNER = GraphRef("g", body("a", [add("a", "a", "b")], "b"))


@pytest.mark.parametrize(
    ("arguments", "target"),
    [
        ([], GRAD),
        ([False, ref("x")], GRAD),
        ([False, INNER], GRAD),
        ([False, INNER, ref("x"), ref("x")], GRAD),
        (["cpu", None, False], AUTOCAST),
        (["cpu", None, 0, True, INNER, ref("x")], AUTOCAST),
    ],
)
def test_calls_that_do_not_fit_their_graph_are_refused(arguments: list[Value], target: str) -> None:
    with pytest.raises(UnsupportedError, match="does not fit the graph that it wraps"):
        inline(body("x", [wrapper(arguments, "y", target)], "y"))
