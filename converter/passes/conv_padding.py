"""Let convolutions do the padding that is done before them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from converter.ir import Graph, Operator, Param
from converter.passes.base import Pass

CONVOLUTIONS = ("nn.Conv1d", "nn.Conv2d", "nn.Conv3d")
MODULES = {"ConstantPad": "constant", "ZeroPad": "constant"} | {
    "ReflectionPad": "reflect",
    "ReplicationPad": "replicate",
}
"""The padding modules without their `1d`, and the mode that F.pad has for each."""


class ConvPaddingMode(Pass):
    """Before: `F.pad x -> a mode=reflect pad=(1,1,2,2)`, `nn.Conv2d a -> y padding=(0,0)`.

    After: `nn.Conv2d x -> y padding=(2,1) padding_mode=reflect`, which calls the same F.pad. A
    circular padding, and the uneven one of `padding=same`, are joined where the module itself made
    them, as pnnx does.
    """

    def run(self, graph: Graph) -> int:
        return sum(set_mode(graph, conv) for conv in graph.of_type(*CONVOLUTIONS))


class FusePadding(Pass):
    """Before: `F.pad x -> a pad=(1,1,2,2)` with zeros, `nn.Conv2d a -> y padding=(0,0)`.

    After: `nn.Conv2d x -> y padding=(2,1)`. torch may take another algorithm, and round otherwise.
    """

    changes_arithmetic: ClassVar[bool] = True

    def run(self, graph: Graph) -> int:
        changed = 0
        for conv in graph.of_type(*CONVOLUTIONS):
            while add_zeros(graph, conv):
                changed += 1
        return changed


def set_mode(graph: Graph, conv: Operator) -> bool:
    pad, mode, ends = padding_before(conv)
    if pad is None or mode == "constant" or conv.params["padding"] != (0,) * len(ends):
        return False
    own = pad.module is not None and pad.module == conv.module
    numbers = (integers(conv.params[key]) for key in ("kernel_size", "dilation", "stride"))
    sizes: Param = even(ends) or ("same" if own and ends == ends_of_same(*numbers) else None)
    if sizes is None or (mode == "circular" and not own):
        return False
    conv.params |= {"padding": sizes, "padding_mode": mode}
    return take_over(graph, conv, pad)


def add_zeros(graph: Graph, conv: Operator) -> bool:
    pad, mode, ends = padding_before(conv)
    padding, sizes = conv.params["padding"], even(ends)
    if pad is None or mode != "constant" or not isinstance(padding, tuple) or sizes is None:
        return False
    conv.params["padding"] = tuple(
        one + more for one, more in zip(padding, sizes, strict=True) if isinstance(one, int)
    )
    return take_over(graph, conv, pad)


def take_over(graph: Graph, conv: Operator, pad: Operator) -> bool:
    graph.set_inputs(conv, pad.inputs)
    graph.remove(pad)
    return True


Ends = list[tuple[int, int]]
"""How far a padding goes before and behind each dim that is convolved."""


def even(ends: Ends) -> tuple[int, ...] | None:
    """The size in each dim, where both ends of it are alike."""
    alike = all(before == after for before, after in ends)
    return tuple(before for before, _ in ends) if alike else None


def ends_of_same(
    kernel: Sequence[int], dilation: Sequence[int], stride: Sequence[int]
) -> Ends | None:
    """Those of `padding="same"`; None where a convolution that strides has none."""
    if len(kernel) != len(dilation) or list(stride) != [1] * len(kernel):
        return None
    totals = [step * (size - 1) for step, size in zip(dilation, kernel, strict=True)]
    return [(total // 2, total - total // 2) for total in totals]


def integers(given: Param) -> list[int]:
    return [one for one in given if isinstance(one, int)] if isinstance(given, tuple) else []


def padding_before(conv: Operator) -> tuple[Operator | None, str, Ends]:
    """The padding whose only reader is this convolution, its mode and its ends.

    None for the padding where there is none that a convolution could do.
    """
    none: tuple[None, str, Ends] = (None, "", [])
    pad = conv.inputs[0].producer
    if pad is None or len(conv.inputs[0].consumers) != 1:
        return none
    if conv.params["padding_mode"] != "zeros":
        return none
    if pad.type == "F.pad":
        mode, amounts = pad.params["mode"], pad.params.get("pad")
    else:
        mode = MODULES.get(pad.type.removeprefix("nn.")[:-2])
        amounts = pad.params.get("padding")
    if not isinstance(mode, str) or not isinstance(amounts, tuple) or pad.params.get("value"):
        return none
    numbers = integers(amounts)
    dims = int(conv.type[-2])
    if len(numbers) != len(amounts) or min(numbers, default=-1) < 0 or any(numbers[2 * dims :]):
        return none
    numbers = (numbers + [0] * 2 * dims)[: 2 * dims]
    return pad, mode, list(zip(numbers[-2::-2], numbers[-1::-2], strict=True))
