"""Activations that are spelled out, and a PReLU that is a LeakyReLU."""

from __future__ import annotations

import numpy as np
import pytest
from graphs import assert_becomes, assert_stays, graph

from converter.passes.base import Pass
from converter.passes.formulas import FORMULAS
from converter.passes.prelu import SingleSlope

CLIP = "F.hardtanh c 1 1 a b min_val={} max_val={}"
FORMULA_OF_HARDSWISH = """
    pnnx.Expression p 1 1 x a expr=add(@0,3)
    F.relu6 c 1 1 a b
    pnnx.Expression m 2 1 x b d expr=mul(@0,@1)
    pnnx.Expression q 1 1 d y expr=div(@0,6)
"""


class Formulas(Pass):
    """All formulas, in order."""

    def run(self, graph):
        return sum(one(graph) for one in FORMULAS)


def of(text: str) -> str:
    return f"pnnx.Input in 0 1 x\n{text.strip()}\npnnx.Output out 1 0 y"


@pytest.mark.parametrize(
    ("function", "formula"),
    [
        (
            "F.hardsigmoid",
            f"""
            pnnx.Expression p 1 1 x a expr=add(3,@0)
            {CLIP.format(0, 6)}
            pnnx.Expression q 1 1 b y expr=div(@0,6)
            """,
        ),
        ("F.hardswish", FORMULA_OF_HARDSWISH),
        (
            # x * (relu6(x + 3) / 6): the hardsigmoid first.
            "F.hardswish",
            """
            pnnx.Expression p 1 1 x a expr=add(@0,3)
            nn.ReLU6 c 1 1 a b
            pnnx.Expression q 1 1 b d expr=div(@0,6)
            pnnx.Expression m 2 1 x d y expr=mul(@0,@1)
            """,
        ),
        ("F.silu", "F.sigmoid s 1 1 x a\npnnx.Expression m 2 1 x a y expr=mul(@0,@1)"),
        ("F.logsigmoid", "nn.Sigmoid s 1 1 x a\npnnx.Expression m 1 1 a y expr=log(@0)"),
        (
            "F.mish",
            """
            F.softplus s 1 1 x a beta=1 threshold=20
            F.tanh t 1 1 a b
            pnnx.Expression m 2 1 x b y expr=mul(@0,@1)
            """,
        ),
    ],
)
def test_a_formula_is_its_function(function, formula):
    assert_becomes(Formulas(), graph(of(formula)), of(f"{function} f 1 1 x y $input=x"))


@pytest.mark.parametrize(
    "formula",
    [
        FORMULA_OF_HARDSWISH.replace("add(@0,3)", "add(@0,2)"),
        FORMULA_OF_HARDSWISH.replace("F.relu6 c 1 1 a b", CLIP.format(0, 5)),
        FORMULA_OF_HARDSWISH.replace("2 1 x b d", "2 1 a b d"),
        FORMULA_OF_HARDSWISH.replace("div(@0,6)", "div(6,@0)"),
    ],
)
def test_another_formula_stays(formula):
    assert_stays(Formulas(), of(formula))


def test_a_part_that_others_read_stays():
    text = of(FORMULA_OF_HARDSWISH).replace("out 1 0 y", "out 2 0 y b")
    assert_stays(Formulas(), text)


PRELU = "nn.PReLU act 1 1 x y num_parameters={0} @weight=({0})f32"


def test_a_prelu_of_one_slope_is_a_leaky_relu():
    slope = np.array([0.1], np.float32)
    made = graph(of(PRELU.format(1)), {"act.weight": slope})
    assert SingleSlope()(made) == 1
    (op,) = made.of_type("nn.LeakyReLU")
    assert op.params == {"negative_slope": float(slope[0])}
    assert not op.attrs


def test_a_prelu_of_several_slopes_stays():
    assert_stays(SingleSlope(), of(PRELU.format(2)), {"act.weight": np.zeros(2, np.float32)})
