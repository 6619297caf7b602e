"""Recognize activations that are spelled out as a formula.

Before: `x * sigmoid(x)`. After: `F.silu x`. One function rounds less often than its formula.
"""

from __future__ import annotations

from typing import ClassVar

from converter.ir import Graph
from converter.passes.composites import replace
from converter.passes.pattern import Match, PatternPass

CLIPS = (
    ("F.relu6|nn.ReLU6", ""),
    ("F.hardtanh|nn.Hardtanh", "min_val=0 max_val=6"),
    ("torch.clamp", "min=0 max=6"),
)
"""What limits values to 0…6."""

HARDSIGMOIDS = tuple(
    f"""
        pnnx.Expression add  1 1 x a expr={plus}
        {type}          clip 1 1 a b {limits}
        pnnx.Expression last 1 1 b out expr=div(@0,6)
    """
    for type, limits in CLIPS
    for plus in ("add(@0,3)", "add(3,@0)")
)
HARDSWISHES = (
    *(
        f"""
        pnnx.Expression add  1 1 x a expr={plus}
        {type}          clip 1 1 a b {limits}
        pnnx.Expression mul  2 1 x b c expr=mul(@0,@1)
        pnnx.Expression last 1 1 c out expr=div(@0,6)
        """
        for type, limits in CLIPS
        for plus in ("add(@0,3)", "add(3,@0)")
    ),
    """
        F.hardsigmoid   clip 1 1 x a
        pnnx.Expression last 2 1 x a out expr=mul(@0,@1)
    """,
)
SILU = """
        F.sigmoid|nn.Sigmoid sigmoid 1 1 x a
        pnnx.Expression      last    2 1 x a out expr=mul(@0,@1)
    """
MISH = """
        F.softplus|nn.Softplus softplus 1 1 x a beta=1 threshold=20
        F.tanh|nn.Tanh         tanh     1 1 a b
        pnnx.Expression        last     2 1 x b out expr=mul(@0,@1)
    """
LOGSIGMOID = """
        F.sigmoid|nn.Sigmoid sigmoid 1 1 x a
        pnnx.Expression      last    1 1 a out expr=log(@0)
    """


class Formula(PatternPass):
    """Write one function in the place of a formula, which ends with the operator `last`."""

    changes_arithmetic: ClassVar[bool] = True

    def __init__(self, function: str, formula: str) -> None:
        self.function = function
        self.pattern = f"pnnx.Input x 0 1 x\n{formula.strip()}\npnnx.Output out 1 0 out"

    @property
    def name(self) -> str:
        return f"Formula of {self.function}"

    def rewrite(self, graph: Graph, match: Match) -> bool:
        return replace(graph, match, "last", self.function)


FORMULAS = (
    *(Formula("F.hardsigmoid", formula) for formula in HARDSIGMOIDS),
    *(Formula("F.hardswish", formula) for formula in HARDSWISHES),
    Formula("F.silu", SILU),
    Formula("F.mish", MISH),
    Formula("F.logsigmoid", LOGSIGMOID),
)
