"""What decompositions say by moving elements or choosing among them."""

from __future__ import annotations

from converter.ir import Graph, Operand, Param
from converter.passes.adjacent import permutation
from converter.passes.base import Pass
from converter.passes.decomposed.base import Decomposed
from converter.passes.noops import bypass
from converter.passes.pattern import Match, PatternPass
from converter.passes.terms import static_shape

SHUFFLE = """
    Tensor.reshape split 1 1 input a
    Tensor.permute order 1 1 a b
    Tensor.reshape last  1 1 b out
"""
FILL = """
    torch.where last 2 1 mask input out input=%value
"""
FILL_TENSOR = """
    torch.where last 3 1 mask value input out
"""


class Shuffle(Decomposed):
    """Before: a reshape, a permutation and a reshape. After: `F.pixel_shuffle x`, or the like."""

    def rewrite(self, graph: Graph, match: Match) -> bool:
        op, order = match["last"], permutation(match["order"])
        shapes = [static_shape(match.operands[name]) for name in ("input", "a", "out")]
        before, split, after = shapes
        if op.origin != self.origin or order is None or before is None or after is None:
            return False
        for name, factor, wanted in steps(self.origin, before, after):
            if (split, tuple(order)) == wanted:
                op.type, op.params = self.function, {name: factor}
                graph.set_inputs(op, [match.operands["input"]], ["input"])
                return True
        return False


Steps = tuple[tuple[int, ...], tuple[int, ...]]
"""The shape in between, and how it is permuted."""


def steps(
    function: str, before: tuple[int, ...], after: tuple[int, ...]
) -> list[tuple[str, int, Steps]]:
    """The param of a shuffle and the steps that it takes, for each factor that the shapes allow."""
    *outer, channels, height, width = before
    rank, found = len(outer), []
    lead = tuple(range(rank))
    if function == "channel_shuffle":
        batch, channels, *rest = before
        for groups in range(1, channels + 1):
            if channels % groups == 0:
                split = (batch, groups, channels // groups, *rest)
                order = (0, 2, 1, *range(3, 3 + len(rest)))
                found.append(("groups", groups, (split, order)))
    elif function == "pixel_shuffle" and after[-1] % width == 0:
        factor = after[-1] // width
        split = (*outer, after[-3], factor, factor, height, width)
        order = (*lead, *(rank + step for step in (0, 3, 1, 4, 2)))
        found.append(("upscale_factor", factor, (split, order)))
    elif function == "pixel_unshuffle" and width % after[-1] == 0:
        factor = width // after[-1]
        split = (*outer, channels, after[-2], factor, after[-1], factor)
        order = (*lead, *(rank + step for step in (0, 2, 4, 1, 3)))
        found.append(("downscale_factor", factor, (split, order)))
    return found


class MaskedFill(Decomposed):
    """Before: `where(mask, value, x)`. After: `Tensor.masked_fill x mask value`."""

    def rewrite(self, graph: Graph, match: Match) -> bool:
        op, source = match["last"], match.operands["input"]
        if op.origin != self.origin or op.outputs[0].shape != source.shape:
            return False
        operands, names = [source, match.operands["mask"]], ["input", "mask"]
        params: dict[str, Param] = dict(match.captured)
        if "value" in match.operands:
            number = stored_number(match.operands["value"])
            if number is None:
                operands.append(match.operands["value"])
                names.append("value")
            else:
                params["value"] = number
        op.type, op.params = self.function, params
        graph.set_inputs(op, operands, names)
        return True


def stored_number(operand: Operand) -> float | int | None:
    stored = operand.stored
    if stored is None or stored.shape != ():
        return None
    number = stored.array().item()
    return number if isinstance(number, int | float) else None


class PermutedBack(Pass):
    """Before: `Tensor.permute x -> a dims=(2,0,1,3)`, `Tensor.permute a -> y dims=(1,2,0,3)`, which
    attention does in memory. After: readers of y read x.
    """

    def run(self, graph: Graph) -> int:
        gone = []
        for op in graph.of_type("Tensor.permute"):
            before = op.inputs[0].producer
            if before is None or before.type != op.type or {op.origin, before.origin} != {ORIGIN}:
                continue
            one, other = permutation(before), permutation(op)
            if one and other and [one[dim] for dim in other] == list(range(len(one))):
                gone.append((op, before.inputs[0]))
        return bypass(graph, gone)


ORIGIN = "scaled_dot_product_attention"

MOVES: tuple[PatternPass, ...] = (
    *(
        Shuffle(name, f"F.{name}", SHUFFLE)
        for name in ("channel_shuffle", "pixel_shuffle", "pixel_unshuffle")
    ),
    MaskedFill("masked_fill", "Tensor.masked_fill", FILL, ("mask", "input")),
    MaskedFill("masked_fill", "Tensor.masked_fill", FILL_TENSOR, ("mask", "value", "input")),
)
