"""Patches of images, which decompositions gather and add up by the indices of their elements."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from converter.ir import Graph, Operand, Operator, Param
from converter.passes.decomposed.base import Decomposed
from converter.passes.decomposed.wrapped import changed_after, changed_before, take_out
from converter.passes.pattern import Match
from converter.passes.terms import static_shape

UNFOLD = """
    F.pad           pad   1 1 input a mode=constant pad=%pad
    pnnx.Expression list  2 1 rows columns b expr=[None,None,@0,@1]
    Tensor.index    index 2 1 a b c
    Tensor.permute  order 1 1 c d dims=(0,1,2,4,3,5)
    Tensor.reshape  last  1 1 d out
"""
FOLD = """
    Tensor.reshape   split 1 1 input a
    Tensor.permute   order 1 1 a b dims=(0,1,2,4,3,5)
    pnnx.Attribute   zeros 0 1 z
    pnnx.Expression  list  2 1 rows columns c expr=[None,None,@0,@1]
    Tensor.index_put put   3 1 z c b d accumulate=True
    F.pad            last  1 1 d out mode=constant pad=%pad
"""


class Windows(NamedTuple):
    """Where the patches lie in one dim: how many elements they have, how far these are apart, how
    far the patches are, and how many there are.
    """

    kernel: int
    dilation: int
    stride: int
    number: int


class Patches(Decomposed):
    """What the two have in common: an input of four dims, or three without a batch."""

    def arguments(self, match: Match) -> dict[str, Param] | None:
        """The params, None where it is no such function."""
        raise NotImplementedError

    def rewrite(self, graph: Graph, match: Match) -> bool:
        op = match["last"]
        params = self.arguments(match) if op.origin == self.origin else None
        if params is None:
            return False
        op.type, op.params = self.function, params
        graph.set_inputs(op, [match.operands["input"]], ["input"])
        unbatched(graph, op)
        return True


class Unfold(Patches):
    """Before: a padding, and an index of every element of every patch. After: `F.unfold x`."""

    def arguments(self, match: Match) -> dict[str, Param] | None:
        padding = paddings(match.captured["pad"], 1)
        gathered, result = (static_shape(match.operands[name]) for name in ("c", "out"))
        image = static_shape(match.operands["a"])
        if padding is None or gathered is None or image is None or match["pad"].params["value"]:
            return None
        found = windows(match, image[2:])
        batch, channels, *sizes = gathered
        if found is None or sizes != [size for one in found for size in (one.kernel, one.number)]:
            return None
        tall, wide = found
        patch = channels * tall.kernel * wide.kernel
        if result != (batch, patch, tall.number * wide.number):
            return None
        return {**params_of(found), "padding": padding}


class Fold(Patches):
    """Before: patches that are added to zeros where each element lies, and the edges cut off.

    After: `F.fold x`.
    """

    def arguments(self, match: Match) -> dict[str, Param] | None:
        padding, zeros = paddings(match.captured["pad"], -1), match.operands["z"].stored
        split, result = (static_shape(match.operands[name]) for name in ("a", "out"))
        source = static_shape(match.operands["input"])
        if padding is None or zeros is None or split is None or result is None or source is None:
            return None
        found = windows(match, zeros.shape[2:]) if zeros.is_full(0) else None
        if found is None:
            return None
        tall, wide = found
        batch, channels = zeros.shape[:2]
        patch = channels * tall.kernel * wide.kernel
        if split != (batch, channels, tall.kernel, wide.kernel, tall.number, wide.number):
            return None
        if source != (batch, patch, tall.number * wide.number):
            return None
        return {**params_of(found), "padding": padding, "output_size": result[2:]}


def paddings(pad: Param, sign: int) -> tuple[int, int] | None:
    """The padding of rows and columns, the same at both ends."""
    if not isinstance(pad, tuple) or len(pad) != 4:
        return None
    amounts = [sign * amount for amount in pad if isinstance(amount, int)]
    left, right, top, bottom = amounts
    return (top, left) if left == right and top == bottom and min(amounts) >= 0 else None


def windows(match: Match, image: tuple[int, ...]) -> tuple[Windows, Windows] | None:
    """The windows in both dims of a padded image, which fill it as far as they go."""
    rows, columns = window(match.operands["rows"]), window(match.operands["columns"])
    if rows is None or columns is None or len(image) != 2:
        return None
    found = [spread(one, size) for one, size in zip((rows, columns), image, strict=True)]
    for one, size in zip(found, image, strict=True):
        if (size - one.dilation * (one.kernel - 1) - 1) // one.stride + 1 != one.number:
            return None
    return found[0], found[1]


def window(indices: Operand) -> Windows | None:
    """The windows whose elements these indices are, by place in the window and window."""
    stored = indices.stored
    if stored is None or stored.dtype != "i64":
        return None
    shape = list(stored.shape[:2])
    if len(shape) != 2 or stored.size != shape[0] * shape[1] or not stored.size:
        return None
    places = stored.array().reshape(shape)
    kernel, count = shape
    dilation = int(places[1, 0]) if kernel > 1 else 1
    stride = int(places[0, 1]) if count > 1 else 0
    grid = np.arange(kernel)[:, None] * dilation + np.arange(count)[None] * stride
    fits = np.array_equal(places, grid) and dilation > 0 and (stride > 0 or count == 1)
    return Windows(kernel, dilation, stride, count) if fits else None


def spread(one: Windows, size: int) -> Windows:
    """A single window is as far from the next as the image is large."""
    return one if one.stride else one._replace(stride=max(size, 1))


def params_of(found: tuple[Windows, Windows]) -> dict[str, Param]:
    return {
        "kernel_size": tuple(one.kernel for one in found),
        "dilation": tuple(one.dilation for one in found),
        "stride": tuple(one.stride for one in found),
    }


def unbatched(graph: Graph, op: Operator) -> None:
    """Leave out the batch that the same call gave its input, and took from its result."""
    ranks = [len(operand.shape or ()) for operand in (op.inputs[0], op.outputs[0])]
    before = changed_before(op, "torch.unsqueeze", -ranks[0])
    after = changed_after(op.outputs[0], "torch.squeeze", -ranks[1])
    if before is not None and after is not None and before.origin == after.origin == op.origin:
        take_out(graph, op, before, [after])


PATCHES = (
    Unfold("im2col", "F.unfold", UNFOLD, ("input", "rows", "columns")),
    Fold("col2im", "F.fold", FOLD, ("input", "rows", "columns")),
)
