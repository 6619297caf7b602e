"""Patterns: what they find in a graph, and what they leave."""

from __future__ import annotations

import pytest
from graphs import graph

from converter.passes.pattern import Match, Pattern

PAIR = """
    pnnx.Input  x    0 1 x
    F.relu      relu 1 1 x a
    F.softmax   soft 1 1 a out dim=%dim
    pnnx.Output out  1 0 out
"""


def found(pattern: str, text: str) -> list[Match]:
    return list(Pattern(pattern).matches(graph(text)))


def test_captures_operators_operands_and_params() -> None:
    (match,) = found(
        PAIR,
        """
        pnnx.Input  in 0 1 0
        F.relu      r  1 1 0 1
        F.softmax   s  1 1 1 2 dim=-1
        pnnx.Output out 1 0 2
        """,
    )
    assert (match["relu"].name, match["soft"].name) == ("r", "s")
    assert match.operands["x"].name == "0"
    assert match.captured == {"dim": -1}


@pytest.mark.parametrize(
    ("case", "text"),
    [
        (
            "what is inside is read outside",
            """
            pnnx.Input  in 0 1 0
            F.relu      r  1 1 0 1
            F.softmax   s  1 1 1 2 dim=1
            pnnx.Output out 2 0 1 2
            """,
        ),
        (
            "another operator between",
            """
            pnnx.Input  in 0 1 0
            F.relu      r  1 1 0 1
            F.tanh      t  1 1 1 2
            F.softmax   s  1 1 2 3 dim=1
            pnnx.Output out 1 0 3
            """,
        ),
        (
            "a param is missing",
            """
            pnnx.Input  in 0 1 0
            F.relu      r  1 1 0 1
            F.softmax   s  1 1 1 2
            pnnx.Output out 1 0 2
            """,
        ),
    ],
)
def test_does_not_match(case: str, text: str) -> None:
    assert found(PAIR, text) == [], case


def test_the_same_operand_and_capture_must_be_the_same_everywhere() -> None:
    pattern = """
        pnnx.Input      x  0 1 x
        F.elu           e  1 1 x a alpha=%alpha
        F.celu          c  1 1 x b alpha=%alpha
        pnnx.Expression m  2 1 a b out expr=mul(@0,@1)
        pnnx.Output     out 1 0 out
    """
    text = """
        pnnx.Input      in 0 1 0
        pnnx.Input      on 0 1 1
        F.elu           e  1 1 0 2 alpha=0.5
        F.celu          c  1 1 {source} 3 alpha={alpha}
        pnnx.Expression m  2 1 2 3 4 expr=mul(@0,@1)
        pnnx.Output     out 1 0 4
    """
    assert len(found(pattern, text.format(source=0, alpha=0.5))) == 1
    assert found(pattern, text.format(source=1, alpha=0.5)) == []
    assert found(pattern, text.format(source=0, alpha=0.7)) == []


def test_two_lines_are_two_operators() -> None:
    pattern = """
        pnnx.Input      x 0 1 x
        F.relu          r 1 1 x a
        F.relu          s 1 1 x b
        pnnx.Expression m 2 1 a b out expr=mul(@0,@1)
        pnnx.Output     out 1 0 out
    """
    one = """
        pnnx.Input      in 0 1 0
        F.relu          r 1 1 0 1
        pnnx.Expression m 2 1 1 1 2 expr=mul(@0,@1)
        pnnx.Output     out 1 0 2
    """
    assert found(pattern, one) == []


def test_alternative_types_and_every_place() -> None:
    pattern = """
        pnnx.Input        x 0 1 x
        F.relu|nn.ReLU    r 1 1 x out
        pnnx.Output       out 1 0 out
    """
    text = """
        pnnx.Input  in 0 1 0
        F.relu      r  1 1 0 1
        nn.ReLU     s  1 1 1 2
        F.tanh      t  1 1 2 3
        pnnx.Output out 1 0 3
    """
    assert [match["r"].name for match in found(pattern, text)] == ["r", "s"]


def test_a_pattern_that_could_never_match_is_an_error() -> None:
    with pytest.raises(ValueError, match="the last line of the pattern does not come from"):
        Pattern(
            """
            pnnx.Input  x 0 1 x
            F.relu      r 1 1 x a
            F.tanh      t 1 1 x out
            pnnx.Output out 1 0 out
            """
        )
