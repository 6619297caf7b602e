"""What every recomposition is: a pattern that `run_decompositions()` leaves of one function."""

from __future__ import annotations

from typing import ClassVar

from converter.ir import Graph, Param
from converter.passes.pattern import Match, PatternPass


class Decomposed(PatternPass):
    """Write a function in the place of what a decomposition made of it.

    `pattern` is what lies between the function's inputs, which bear the names of its arguments, and
    its result `out`, which the operator `last` gives. What it captures are the function's params,
    besides those that are given here. The pattern proves what is computed. That it was this
    function, of several that compute the same, is what the file says: `origin` is its ATen name.

    A function rounds otherwise than its parts do, as it does in the program before.
    """

    changes_arithmetic: ClassVar[bool] = True

    def __init__(
        self,
        origin: str,
        function: str,
        pattern: str,
        inputs: tuple[str, ...] = ("input",),
        **params: Param,
    ) -> None:
        self.origin = origin
        self.function = function
        self.inputs = inputs
        self.params = params
        heads = "".join(f"pnnx.Input {name} 0 1 {name}\n" for name in inputs)
        self.pattern = f"{heads}{pattern.strip()}\npnnx.Output out 1 0 out"

    @property
    def name(self) -> str:
        return f"Decomposed {self.function}"

    def rewrite(self, graph: Graph, match: Match) -> bool:
        op = match["last"]
        if op.origin != self.origin:
            return False
        op.type, op.params = self.function, self.params | match.captured
        graph.set_inputs(op, [match.operands[name] for name in self.inputs], self.inputs)
        return True
