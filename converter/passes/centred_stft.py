"""Let short-time Fourier transforms do the padding that is done before them."""

from __future__ import annotations

from converter.ir import Graph, Operand, Operator
from converter.passes.base import Pass

MODES = ("circular", "constant", "reflect", "replicate")


class CentredStft(Pass):
    """Before: `Tensor.reshape x -> a`, `F.pad a -> b mode=reflect pad=(8,8)`,
    `Tensor.reshape b -> c`, `torch.stft c -> y center=False n_fft=16`.

    After: `torch.stft x -> y center=True pad_mode=reflect n_fft=16`, which is what the user wrote:
    torch.stft itself makes three dims of one or two, pads the last one by half a frame at both
    ends, and goes back. Others may read the padded waves: what nobody reads is dead code.
    """

    def run(self, graph: Graph) -> int:
        return sum(centre(graph, op) for op in graph.of_type("torch.stft"))


def centre(graph: Graph, stft: Operator) -> bool:
    waves = stft.input("input")
    back = made_by(waves, "Tensor.reshape")
    pad = made_by(back.inputs[0], "F.pad") if back else None
    extend = made_by(pad.inputs[0], "Tensor.reshape") if pad else None
    if back is None or pad is None or extend is None or stft.params["center"]:
        return False
    x, n_fft = extend.inputs[0], stft.params["n_fft"]
    if x.shape is None or waves.shape is None or len(x.shape) != len(waves.shape):
        return False
    extended = (1,) * (3 - len(x.shape)) + tuple(x.shape)
    half = n_fft // 2 if isinstance(n_fft, int) else None
    if extend.outputs[0].shape != extended or pad.params.get("pad") != (half, half):
        return False
    if pad.params["mode"] not in MODES or pad.params.get("value"):
        return False
    stft.params |= {"center": True, "pad_mode": pad.params["mode"]}
    inputs = [x if operand is waves else operand for operand in stft.inputs]
    graph.set_inputs(stft, inputs, stft.input_names)
    return True


def made_by(operand: Operand, type: str) -> Operator | None:
    """The operator that made an operand, if it is of this type."""
    op = operand.producer
    return op if op and op.type == type else None
