"""Numbers and indices that are written where they are used; products that become layers."""

from __future__ import annotations

import numpy as np
import pytest
from graphs import assert_becomes, assert_stays, graph

from converter.passes.inline import LONGEST, InlineIndices, InlineNumbers
from converter.passes.matmul import MatmulOfTransposed, MatmulToLinear

HALF = np.array(0.1, np.float32)
VALUE = repr(float(HALF))


def stored(op: str, dtype: str = "f32", x: str = "(2,3)f32") -> str:
    """An operator of x and of a stored tensor s without dims."""
    return f"""
    pnnx.Input in 0 1 x #x={x}
    pnnx.Attribute s 0 1 s @data=(){dtype}
    {op}
    pnnx.Output out 1 0 y
    """


def inlined(op: str, x: str = "(2,3)f32") -> str:
    return f"pnnx.Input in 0 1 x #x={x}\n{op}\npnnx.Output out 1 0 y"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "torch.gt op 2 1 x s y $input=x $other=s",
            f"torch.gt op 1 1 x y other={VALUE} $input=x",
        ),
        (
            "torch.clamp op 2 1 x s y max=None $input=x $min=s",
            f"torch.clamp op 1 1 x y max=None min={VALUE} $input=x",
        ),
        (
            "pnnx.Expression op 2 1 s x y expr=sub(mul(@0,@1),@0)",
            f"pnnx.Expression op 1 1 x y expr=sub(mul({VALUE},@0),{VALUE})",
        ),
    ],
)
def test_a_tensor_without_dims_is_a_number(before, after):
    assert_becomes(InlineNumbers(), graph(stored(before), {"s.data": HALF}), inlined(after))


@pytest.mark.parametrize("name", ["atan2", "fmod", "logaddexp", "pow"])
def test_functions_of_tensors_only_keep_theirs(name):
    before = stored(f"pnnx.Expression op 2 1 x s y expr={name}(@0,@1)")
    assert_stays(InlineNumbers(), before, {"s.data": HALF})


def test_a_whole_number():
    made = graph(
        stored("pnnx.Expression op 2 1 x s y expr=mul(@0,@1)", "i64"), {"s.data": np.array(3)}
    )
    assert_becomes(InlineNumbers(), made, inlined("pnnx.Expression op 1 1 x y expr=mul(@0,3)"))


def test_the_condition_of_a_choice_says_nothing_of_its_type():
    text = """
    pnnx.Input in 0 1 c #c=(2,3)bool
    pnnx.Attribute s 0 1 s @data=()f32
    pnnx.Attribute t 0 1 t @data=()f32
    torch.where op 3 1 c s t y $condition=c $input=s $other=t #c=(2,3)bool
    pnnx.Output out 1 0 y
    """
    assert_stays(InlineNumbers(), text, {"s.data": HALF, "t.data": HALF})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        # A power by a number has a kernel of its own.
        (stored("pnnx.Expression op 2 1 x s y expr=pow(@0,@1)"), HALF),
        # The result would be of another type.
        (stored("pnnx.Expression op 2 1 x s y expr=mul(@0,@1)", "f64", "(2)i64"), np.array(0.5)),
        (stored("pnnx.Expression op 2 1 x s y expr=mul(@0,@1)", "i64", "(2)i8"), np.array(3)),
        (stored("pnnx.Expression op 1 1 s y expr=neg(@0)"), HALF),
        (stored("pnnx.Expression op 2 1 x s y expr=mul(@0,@1)"), np.array(np.inf, np.float32)),
    ],
)
def test_what_may_differ_stays(text, value):
    assert_stays(InlineNumbers(), text, {"s.data": value})


def indexed(items: str, shape: str = "(2)i64") -> str:
    return f"""
    pnnx.Input in 0 1 x #x=(4,6)f32
    pnnx.Attribute i 0 1 i @data={shape} #i={shape}
    pnnx.Expression list 1 1 i l expr={items} #i={shape}
    Tensor.index op 2 1 x l y $input=x $expr=l #x=(4,6)f32
    pnnx.Output out 1 0 y
    """


def test_stored_indices_are_a_list():
    assert_becomes(
        InlineIndices(),
        graph(indexed("[None,@0]"), {"i.data": np.array([3, -1])}),
        inlined("Tensor.index op 1 1 x y expr=[None,[3,-1]] $input=x", "(4,6)f32"),
    )


@pytest.mark.parametrize(
    ("shape", "values"),
    [
        ("(1,2)i64", np.array([[3, 1]])),
        ("(0)i64", np.zeros(0, np.int64)),
        ("(1025)i64", np.zeros(LONGEST + 1, np.int64)),
        ("(2)u8", np.zeros(2, np.uint8)),
    ],
)
def test_other_indices_stay_tensors(shape, values):
    assert_stays(InlineIndices(), indexed("[@0]", shape), {"i.data": values})


def product(transpose: str = "", other: str = "w", outputs: str = "1 0 y") -> str:
    return f"""
    pnnx.Input in 0 1 x #x=(2,3)f32
    pnnx.Attribute w 0 1 w @data=(3,4)f32 #w=(3,4)f32
    {transpose}
    torch.matmul m 2 1 x {other} y $input=x $other={other} #y=(2,4)f32
    pnnx.Output out {outputs}
    """


WEIGHT = np.arange(12, dtype=np.float32).reshape(3, 4)


def test_a_product_with_a_transposed_matrix_is_linear():
    made = graph(product("torch.t t 1 1 w a", "a"), {"w.data": WEIGHT})
    assert MatmulOfTransposed()(made) == 1
    (op,) = made.of_type("F.linear")
    assert [one.name for one in op.inputs] == ["x", "w"]
    assert op.params == {"bias": None}
    assert not MatmulOfTransposed.changes_arithmetic


def test_a_product_with_a_stored_matrix_is_a_layer():
    made = graph(product(), {"w.data": WEIGHT})
    assert MatmulToLinear()(made) == 1
    (op,) = made.of_type("nn.Linear")
    assert op.params == {"bias": False, "in_features": 3, "out_features": 4}
    assert np.array_equal(op.attrs["weight"].array(), WEIGHT.T)
    assert MatmulToLinear.changes_arithmetic


def test_a_matrix_that_others_read_stays():
    assert_stays(MatmulToLinear(), product(outputs="2 0 y w"), {"w.data": WEIGHT})
