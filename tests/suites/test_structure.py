"""Whether two graphs are one, up to names and order; what tells them apart; the reviewed table."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from converter.ir import Graph
from converter.pnnx.param import read_param
from suites.registry import discover
from suites.reviewed import Reviewed, ReviewError, read_reviewed, unexplained
from suites.structure import differences


def graph(text: str) -> Graph:
    lines = [line for line in text.splitlines() if line.strip()]
    operands = sum(int(line.split()[3]) for line in lines)
    return read_param("\n".join(["7767517", f"{len(lines)} {operands}", *lines]), "test")


def texts(one: str, other: str) -> list[str]:
    return [str(difference) for difference in differences(graph(one), graph(other))]


BASE = """
    pnnx.Input in0 0 1 a #a=(2,3)f32
    pnnx.Input in1 0 1 b #b=(2,3)f32
    F.relu relu 1 1 a c $input=a #a=(2,3)f32 #c=(2,3)f32
    F.softmax soft 1 1 b d dim=1 $input=b #b=(2,3)f32 #d=(2,3)f32
    torch.atan2 atan 2 1 c d e $input=c $other=d #c=(2,3)f32 #d=(2,3)f32 #e=(2,3)f32
    nn.Linear fc 1 1 e f bias=False eps=0.1 @weight=(4,3)f32 #e=(2,3)f32 #f=(2,4)f32
    torch.split split 1 2 f g h dim=1 split_size_or_sections=2 #f=(2,4)f32 #g=(2,2)f32 #h=(2,2)f32
    pnnx.Expression sub 2 1 g h y expr=sub(@0,mul(@1,0.3))
    pnnx.Output out 1 0 y
"""


def test_a_graph_is_itself_by_other_names_and_in_another_order():
    lines = BASE.strip().splitlines()
    lines[2], lines[3] = lines[3], lines[2]
    renamed = "\n".join(lines)
    for old, new in {"relu": "r", "soft": "s", "fc": "layer"}.items():
        renamed = re.sub(rf" {old} ", f" {new} ", renamed)
    renamed = re.sub(r"(?<=[ #=$])([a-h])(?=[ =\n])", r"v\1", renamed)
    assert texts(BASE, renamed) == []


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("dim=1 $input=b", "dim=0 $input=b", "changed: F.softmax dim: ts 1, pt2 0"),
        ("dim=1 $input=b", "dim=True $input=b", "changed: F.softmax dim: ts 1, pt2 True"),
        ("bias=False", "bias=False extra=1", "changed: nn.Linear extra: ts has none, pt2 1"),
        ("eps=0.1", "eps=0.2", "changed: nn.Linear eps: ts 0.1"),
        ("(4,3)f32", "(4,3)f16", "changed: nn.Linear @weight: ts (4,3)f32, pt2 (4,3)f16"),
        ("#f=(2,4)f32", "#f=(2,5)f32", "ts (2,4)f32, pt2 (2,5)f32"),
        ("#f=(2,4)f32", "#f=(2,4)f64", "ts (2,4)f32, pt2 (2,4)f64"),
        ("F.relu relu", "F.silu relu", "only in ts: F.relu -> (2,3)f32"),
        ("$other=d", "$out=d", "changed: torch.atan2 $: ts (input,other), pt2 (input,out)"),
        ("0.3)", "0.4)", "changed: pnnx.Expression expr: ts sub(@0,mul(@1,0.3"),
        ("1 0 y", "1 0 e", "wiring"),
        ("2 1 c d e $input=c $other=d", "2 1 d c e $input=d $other=c", "wiring"),
        ("2 1 g h y", "2 1 h g y", "wiring: pnnx.Expression"),
    ],
)
def test_one_change_is_told(old, new, told):
    assert old in BASE
    found = texts(BASE, BASE.replace(old, new))
    assert any(told in text for text in found), found
    assert texts(BASE.replace(old, new), BASE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # Of single precision, unknown shapes and dims, and the name of an only input.
        ("eps=0.1", "eps=0.100000001"),
        ("0.3)", "0.300000012)"),
        ("#f=(2,4)f32 #g", "#g"),
        ("#f=(2,4)f32", "#f=(?,4)f32"),
        ("$input=b", ""),
    ],
)
def test_what_pnnx_cannot_say_is_no_difference(old, new):
    assert old in BASE
    assert texts(BASE, BASE.replace(old, new)) == []


def test_the_inputs_are_told_apart_by_their_order():
    text = """
    pnnx.Input in0 0 1 a #a=(2)f32
    pnnx.Input in1 0 1 b #b=(2)f32
    F.relu relu 1 1 a y
    pnnx.Output out 1 0 y
    """
    assert texts(text, text.replace("1 1 a y", "1 1 b y"))
    assert texts(text, text) == []


TWICE = """
    pnnx.Input in 0 1 x #x=(2)f32
    F.relu p 1 1 x a
    F.relu q 1 1 x b
    torch.stack s 2 1 {} y dim=0
    pnnx.Output out 1 0 y
"""


def test_one_operator_does_not_stand_for_two():
    """The graphs compute the same, and are not the same."""
    once = TWICE.format("a a")
    assert texts(TWICE.format("a b"), once)
    assert texts(once, TWICE.format("a b"))
    assert texts(TWICE.format("b a"), TWICE.format("a b")) == []


@pytest.mark.parametrize(
    ("size", "same"), [("(0,4)", True), ("(8,4)", True), ("(0,0)", False), ("(7,4)", False)]
)
def test_an_adaptive_pool_may_keep_a_size(size, same):
    text = """
    pnnx.Input in 0 1 x #x=(1,2,8,6)f32
    F.adaptive_avg_pool2d pool 1 1 x y output_size={} #x=(1,2,8,6)f32
    pnnx.Output out 1 0 y
    """
    assert (texts(text.format(size), text.format("(8,4)")) == []) == same


@st.composite
def graphs(draw):
    """A random graph as text: each operator reads operands before it."""
    lines = ["pnnx.Input in 0 1 v0 #v0=(2)f32"]
    for number in range(1, draw(st.integers(2, 6))):
        one, other = (draw(st.integers(0, number - 1)) for _ in range(2))
        type = draw(st.sampled_from(("torch.add", "torch.sub")))
        lines.append(f"{type} op{number} 2 1 v{one} v{other} v{number}")
    return [*lines, f"pnnx.Output out 1 0 v{len(lines) - 1}"]


def value(lines):
    """What a graph computes, as a nested tuple, and how many operators it has."""
    values = {}
    for line in lines:
        type, _, ins, outs, *words = line.split()
        operands = words[: int(ins) + int(outs)]
        made = (type, *(values[name] for name in operands[: int(ins)]))
        values[operands[-1]] = made
    return made, len(lines)


@given(graphs(), graphs())
def test_the_same_graphs_compute_the_same(one, other):
    same = texts("\n".join(one), "\n".join(other)) == []
    assert texts("\n".join(one), "\n".join(one)) == []
    assert not same or value(one) == value(other)


# --- the reviewed table


def table(tmp_path, text: str):
    path = tmp_path / "structure.toml"
    path.write_text(text)
    return read_reviewed({"F_relu", "F_silu"}, path)


GOOD = """
    [[difference]]
    cases = ["F_relu", "F_silu"]
    differs = ["F.relu"]
    reason = "so it is"
    [[difference]]
    cases = ["F_relu"]
    reason = "and so"
"""


def test_entries_by_case(tmp_path):
    found = table(tmp_path, GOOD)
    first, second = Reviewed(("F.relu",), "so it is"), Reviewed((), "and so")
    assert found == {"F_relu": [first, second], "F_silu": [first]}


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("F_silu", "F_elu", "difference 1: no case is called F_elu"),
        ('reason = "and so"', 'reason = " "', "difference 2: it needs a reason"),
        ('reason = "and so"', "", "difference 2: it needs a reason"),
        ("differs", "differ", "difference 1: it has no key 'differ'"),
        ('["F.relu"]', "[]", "difference 1: differs must be a list of texts"),
        ('["F.relu"]', '"F.relu"', "difference 1: differs must be a list of texts"),
        ('cases = ["F_relu"]', "", "difference 2: cases must be a list of texts"),
        ("[[difference]]", "[[other]]", "it has other things than"),
        ("cases", "cases =", "structure.toml"),
    ],
)
def test_a_malformed_table_is_refused(tmp_path, old, new, told):
    with pytest.raises(ReviewError, match=re.escape(told)):
        table(tmp_path, GOOD.replace(old, new))


def test_the_table_of_the_project_is_well_formed():
    assert read_reviewed({info.name for info in discover()})


ENTRY = Reviewed(("F.relu", "F.silu"), "so")


@pytest.mark.parametrize(
    ("found", "entries", "faults"),
    [
        (["only in ts: F.relu", "only in pt2: F.silu"], [ENTRY], 0),
        (["only in ts: F.relu", "only in pt2: F.elu"], [ENTRY], 2),
        (["only in ts: F.relu"], [ENTRY], 1),
        ([], [ENTRY], 1),
        (["only in ts: F.relu"], [Reviewed((), "all of it")], 0),
        ([], [Reviewed((), "all of it")], 1),
        (["only in ts: F.relu"], [], 1),
        ([], [], 0),
    ],
)
def test_every_difference_has_a_reason_and_every_reason_a_difference(found, entries, faults):
    assert len(list(unexplained(found, entries))) == faults
