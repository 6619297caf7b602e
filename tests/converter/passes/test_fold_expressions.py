"""Expressions that are folded into their readers, and those that are not."""

from __future__ import annotations

import sys

from graphs import assert_becomes, assert_stays, graph

from converter.ir import Graph
from converter.passes.expression import LIMIT, FoldExpressions

X = "pnnx.Input in0 0 1 x #x=(2,3)f32"
Y = "pnnx.Input in1 0 1 y #y=(2,3)f32"


def expression(name: str, inputs: str, result: str, expr: str) -> str:
    count = len(inputs.split())
    return f"pnnx.Expression {name} {count} 1 {inputs} {result} expr={expr} #{result}=(2,3)f32"


def test_a_tree_becomes_one_expression_whose_operands_count_from_the_left() -> None:
    assert_becomes(
        FoldExpressions(),
        graph(
            f"""
            {X}
            {Y}
            {expression("a", "x", "a", "mul(@0,2)")}
            {expression("b", "y x", "b", "sub(@0,@1)")}
            {expression("c", "b a", "c", "div(@1,sqrt(@0))")}
            {expression("d", "c", "d", "neg(@0)")}
            pnnx.Output out 1 0 d
            """
        ),
        f"""
        {X}
        {Y}
        {expression("d", "x y", "d", "neg(div(mul(@0,2),sqrt(sub(@1,@0))))")}
        pnnx.Output out 1 0 d
        """,
    )


def test_what_is_read_twice_is_computed_once() -> None:
    assert_stays(
        FoldExpressions(),
        f"""
        {X}
        {expression("a", "x", "a", "exp(@0)")}
        {expression("b", "a", "b", "mul(@0,@0)")}
        pnnx.Output out 1 0 b
        """,
    )
    assert_stays(
        FoldExpressions(),
        f"""
        {X}
        {expression("a", "x", "a", "exp(@0)")}
        {expression("b", "a", "b", "mul(@0,2)")}
        pnnx.Output out 2 0 a b
        """,
    )


def test_only_expressions_of_tensors_fold_into_expressions() -> None:
    assert_stays(
        FoldExpressions(),
        f"""
        {X}
        pnnx.Input i 0 1 i #i=(2)i64
        pnnx.Expression l 1 1 i l expr=[None,@0]
        Tensor.index    p 2 1 x l p $input=x $expr=l #p=(2,2)f32
        F.relu          r 1 1 p r #r=(2,2)f32
        pnnx.Output out 1 0 r
        """,
    )


def test_an_index_takes_its_arithmetic_in() -> None:
    assert_becomes(
        FoldExpressions(),
        graph(
            f"""
            {X}
            pnnx.Input i 0 1 i #i=(2)i64
            pnnx.Expression a 1 1 i a expr=add(@0,1) #a=(2)i64
            pnnx.Expression l 2 1 a i l expr=[@1,@0]
            Tensor.index    p 2 1 x l p $input=x $expr=l #p=(2)f32
            pnnx.Output out 1 0 p
            """
        ),
        f"""
        {X}
        pnnx.Input i 0 1 i #i=(2)i64
        pnnx.Expression l 1 1 i l expr=[@0,add(@0,1)]
        Tensor.index    p 2 1 x l p $input=x $expr=l #p=(2)f32
        pnnx.Output out 1 0 p
        """,
    )


def chain(length: int) -> Graph:
    made = graph(f"{X}\n{expression('e0', 'x', 'v0', 'add(@0,1)')}")
    value = made.operands["v0"]
    for step in range(1, length):
        result = made.operand(f"v{step}", (2, 3), "f32")
        made.add("pnnx.Expression", f"e{step}", [value], [result], params={"expr": "add(@0,1)"})
        value = result
    made.add("pnnx.Output", "out", [value])
    return made


def calls_to_fold(made: Graph) -> int:
    """How many functions are called: what it takes, on any machine and under any load."""
    count = 0

    def tell(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(tell)
    try:
        FoldExpressions()(made)
    finally:
        sys.setprofile(None)
    return count


def test_long_chains_stay_in_parts_and_fold_in_linear_time() -> None:
    short, long = chain(500), chain(5000)
    assert calls_to_fold(long) < 12 * calls_to_fold(short)
    for made, parts in ((short, 2), (long, 11)):
        folded = made.of_type("pnnx.Expression")
        assert all(len(str(op.params["expr"])) <= LIMIT for op in folded)
        assert len(folded) == parts
