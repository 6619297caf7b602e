"""Recognize shuffles of channels and pixels: a reshape, a permutation and a reshape back."""

from __future__ import annotations

from typing import NamedTuple

from converter.ir import Graph, Operator, Param
from converter.passes.adjacent import permutation
from converter.passes.base import Pass
from converter.passes.terms import static_shape

RESHAPES = ("Tensor.reshape", "Tensor.unflatten", "torch.flatten")
PERMUTES = ("Tensor.permute", "torch.transpose")


class Steps(NamedTuple):
    """The shape of the input, the one in between, how that is permuted, and the result's shape."""

    before: tuple[int, ...]
    split: tuple[int, ...]
    order: tuple[int, ...]
    after: tuple[int, ...]


class Shuffles(Pass):
    """Before: `Tensor.reshape x -> a shape=(1,2,3,8,8)`, `torch.transpose a -> b dim0=1 dim1=2`,
    `Tensor.reshape b -> y shape=(1,6,8,8)`. After: `nn.ChannelShuffle x -> y groups=2`.

    Likewise `nn.PixelShuffle` and `nn.PixelUnshuffle`.
    """

    def run(self, graph: Graph) -> int:
        return sum(shuffle(graph, op) for op in graph.of_type(*RESHAPES))


def shuffle(graph: Graph, last: Operator) -> bool:
    permute = only_producer(last, PERMUTES)
    first = only_producer(permute, RESHAPES) if permute is not None else None
    if permute is None or first is None:
        return False
    order = permutation(permute)
    shapes = [static_shape(one) for one in (*first.inputs, *first.outputs, *last.outputs)]
    known = [shape for shape in shapes if shape is not None]
    if order is None or len(known) < 3:
        return False
    module = recognized(Steps(known[0], known[1], tuple(order), known[2]))
    if module is None:
        return False
    last.type, last.params = module
    graph.set_inputs(last, first.inputs, ["input"])
    graph.remove_all([permute, first])
    return True


def only_producer(op: Operator, types: tuple[str, ...]) -> Operator | None:
    """The operator before another one, if it is of these types and nothing else reads it."""
    source = op.inputs[0]
    found = source.producer if len(source.consumers) == 1 else None
    return found if found is not None and found.type in types else None


def recognized(steps: Steps) -> tuple[str, dict[str, Param]] | None:
    """The module that takes these steps, with its params."""
    if len(steps.before) in (4, 5) and len(steps.split) > 1:
        groups = steps.split[1]
        if steps == channel_shuffle(steps.before, groups):
            return "nn.ChannelShuffle", {"groups": groups}
    if len(steps.before) != 4:
        return None
    if steps.order == (0, 1, 4, 2, 5, 3):
        factor = steps.split[2]
        if steps == pixel_shuffle(steps.before, factor):
            return "nn.PixelShuffle", {"upscale_factor": factor}
    if steps.order == (0, 1, 3, 5, 2, 4):
        factor = steps.split[3]
        if steps == pixel_unshuffle(steps.before, factor):
            return "nn.PixelUnshuffle", {"downscale_factor": factor}
    return None


def channel_shuffle(before: tuple[int, ...], groups: int) -> Steps:
    batch, channels, *size = before
    split = (batch, groups, channels // groups, *size)
    return Steps(before, split, (0, 2, 1, *range(3, len(split))), before)


def pixel_shuffle(before: tuple[int, ...], factor: int) -> Steps:
    batch, channels, height, width = before
    left = channels // factor**2
    split = (batch, left, factor, factor, height, width)
    after = (batch, left, height * factor, width * factor)
    return Steps(before, split, (0, 1, 4, 2, 5, 3), after)


def pixel_unshuffle(before: tuple[int, ...], factor: int) -> Steps:
    batch, channels, height, width = before
    split = (batch, channels, height // factor, factor, width // factor, factor)
    after = (batch, channels * factor**2, height // factor, width // factor)
    return Steps(before, split, (0, 1, 3, 5, 2, 4), after)
