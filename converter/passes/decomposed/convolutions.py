"""Convolutions for which decompositions pad unevenly, and those of inputs without a batch."""

from __future__ import annotations

from converter.ir import Graph, Operator, Param
from converter.passes.base import Pass
from converter.passes.conv_padding import Ends, ends_of_same
from converter.passes.decomposed.wrapped import changed_after, changed_before, take_out
from converter.passes.terms import static_shape

STRAIGHT = tuple(f"F.conv{dims}d" for dims in (1, 2, 3))
CONVOLUTIONS = (*STRAIGHT, *(f"F.conv_transpose{dims}d" for dims in (1, 2, 3)))


class SameConvolutions(Pass):
    """Before: `F.pad x -> a pad=(0,1)` with zeros, `F.conv1d a w -> y padding=(1,)`.

    After: `F.conv1d x w -> y padding=same`: a kernel of even size needs one more zero behind.
    """

    def run(self, graph: Graph) -> int:
        return sum(pad_by_itself(graph, op) for op in graph.of_type(*STRAIGHT))


def pad_by_itself(graph: Graph, op: Operator) -> bool:
    pad = op.inputs[0].producer
    if pad is None or pad.type != "F.pad" or len(op.inputs[0].consumers) != 1:
        return False
    if op.origin is None or not op.origin.startswith("conv") or pad.origin != op.origin:
        return False
    if pad.params["mode"] != "constant" or pad.params["value"] not in (None, 0):
        return False
    wanted = zeros_of_same(op)
    if wanted is None or zeros_in_all(op, pad) != wanted:
        return False
    op.params["padding"] = "same"
    graph.set_inputs(op, [pad.inputs[0], *op.inputs[1:]], op.input_names)
    graph.remove(pad)
    return True


def zeros_of_same(op: Operator) -> Ends | None:
    """How many zeros `padding="same"` puts before and behind each dim; None where it cannot."""
    dims, weight = int(op.type[-2]), static_shape(op.inputs[1])
    dilation, stride = (numbers(op.params[key], dims) for key in ("dilation", "stride"))
    return None if weight is None else ends_of_same(weight[2:], dilation, stride)


def zeros_in_all(op: Operator, pad: Operator) -> Ends:
    """How many zeros a convolution and the padding before it put there; empty if not known."""
    dims, given, amounts = int(op.type[-2]), op.params["padding"], pad.params["pad"]
    own, more = numbers(0 if given == "valid" else given, dims), numbers(amounts, 0)
    if len(own) != dims or not isinstance(amounts, tuple) or len(more) != len(amounts):
        return []
    if len(more) > 2 * dims:
        return []
    more += [0] * (2 * dims - len(more))
    ends = zip(own, more[-2::-2], more[-1::-2], strict=True)
    return [(one + before, one + after) for one, before, after in ends]


def numbers(given: Param, count: int) -> list[int]:
    """A number for each dim; fewer where some are not known."""
    values = given if isinstance(given, tuple) else (given,) * count
    return [value for value in values if isinstance(value, int)]


class UnbatchedConvolutions(Pass):
    """Before: `torch.unsqueeze x -> a dim=0`, `F.conv2d a w -> b`, `torch.squeeze b -> y dim=0`.

    After: `F.conv2d x w -> y`, which does just that.
    """

    def run(self, graph: Graph) -> int:
        return sum(unwrap(graph, op) for op in graph.of_type(*CONVOLUTIONS))


def unwrap(graph: Graph, op: Operator) -> bool:
    rank = len(op.outputs[0].shape or ())
    before = changed_before(op, "torch.unsqueeze", -rank)
    after = changed_after(op.outputs[0], "torch.squeeze", -rank)
    if before is None or after is None or op.origin is None or not op.origin.startswith("conv"):
        return False
    if before.origin != op.origin or after.origin != op.origin:
        return False
    take_out(graph, op, before, [after])
    return True
