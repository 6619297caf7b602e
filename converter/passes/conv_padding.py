"""Let convolutions do the padding that is done before them."""

from __future__ import annotations

from typing import ClassVar

from converter.ir import Graph, Operator
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
    circular padding is joined where the module itself made it, as pnnx does.
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
    pad, mode, sizes = padding_before(conv)
    if pad is None or mode == "constant" or conv.params["padding"] != (0,) * len(sizes):
        return False
    if mode == "circular" and (pad.module is None or pad.module != conv.module):
        return False
    conv.params |= {"padding": sizes, "padding_mode": mode}
    return take_over(graph, conv, pad)


def add_zeros(graph: Graph, conv: Operator) -> bool:
    pad, mode, sizes = padding_before(conv)
    padding = conv.params["padding"]
    if pad is None or mode != "constant" or not isinstance(padding, tuple):
        return False
    conv.params["padding"] = tuple(
        one + more for one, more in zip(padding, sizes, strict=True) if isinstance(one, int)
    )
    return take_over(graph, conv, pad)


def take_over(graph: Graph, conv: Operator, pad: Operator) -> bool:
    graph.set_inputs(conv, pad.inputs)
    graph.remove(pad)
    return True


def padding_before(conv: Operator) -> tuple[Operator | None, str, tuple[int, ...]]:
    """The padding whose only reader is this convolution, its mode and its size in each dim.

    None for the padding where there is none that a convolution could do: it pads both ends of a
    dim alike, and with zeros.
    """
    none = None, "", ()
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
    numbers = [amount for amount in amounts if isinstance(amount, int)]
    dims = int(conv.type[-2])
    befores, afters = numbers[0::2], numbers[1::2]
    if len(numbers) != len(amounts) or min(numbers, default=-1) < 0:
        return none
    if befores != afters or any(befores[dims:]):
        return none
    sizes = (befores + [0] * dims)[:dims]
    return pad, mode, tuple(reversed(sizes))
