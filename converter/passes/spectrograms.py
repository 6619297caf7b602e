"""Recognize torchaudio's spectrograms and their inverses, which torch.export sees through.

Generated modules call the same functions of torch in the same order (`pnnx/spectrogram.py`), so
that not a bit changes. A transform without the reshapes around it is torch's own and stays.
"""

from __future__ import annotations

from converter.ir import Graph, Operand, Operator, Param
from converter.passes.base import Pass
from converter.passes.composites import number
from converter.passes.dead_code import DeadCode
from converter.passes.pattern import Match, PatternPass

SPECTROGRAM = "torchaudio.functional.spectrogram"
INVERSE = "torchaudio.functional.inverse_spectrogram"


class Spectrogram(PatternPass):
    """Before: `torch.stft` of waves with one dim before the last, made so and undone after it.

    After: `torchaudio.functional.spectrogram`, of complex numbers.
    """

    pattern = """
        pnnx.Input     x 0 1 x
        pnnx.Input     w 0 1 w
        Tensor.reshape pack   1 1 x a
        torch.stft     stft   2 1 a w b return_complex=True
        Tensor.reshape unpack 1 1 b out
        pnnx.Output    out 1 0 out
    """

    def rewrite(self, graph: Graph, match: Match) -> bool:
        stft, unpack = match["stft"], match["unpack"]
        if stft.input_names != ["input", "window"] or not packs(match, 1, 2, real="a"):
            return False
        params = sizes(stft)
        unpack.type, unpack.params = SPECTROGRAM, params | {"pad": 0, "power": None}
        set_inputs(graph, match, unpack, "waveform")
        return True


class InverseSpectrogram(PatternPass):
    """Before: `torch.istft` of spectra with one dim before two, made so and undone after it.

    After: `torchaudio.functional.inverse_spectrogram`.
    """

    pattern = """
        pnnx.Input     x 0 1 x
        pnnx.Input     w 0 1 w
        Tensor.reshape pack   1 1 x a
        torch.istft    istft  2 1 a w b return_complex=False length=None
        Tensor.reshape unpack 1 1 b out
        pnnx.Output    out 1 0 out
    """

    def rewrite(self, graph: Graph, match: Match) -> bool:
        istft, unpack = match["istft"], match["unpack"]
        if istft.input_names != ["input", "window"] or not packs(match, 2, 1, real="b"):
            return False
        params = sizes(istft)
        unpack.type, unpack.params = INVERSE, params | {"pad": 0}
        set_inputs(graph, match, unpack, "spectrogram")
        return True


def packs(match: Match, before: int, after: int, real: str) -> bool:
    """Whether all but these last dims are reshaped to one dim, and back, of `real` waves."""
    if not all(map(is_real, (match.operands[real], match.operands["w"]))):
        return False
    x, a, b, out = (match.operands[name].shape for name in ("x", "a", "b", "out"))
    if x is None or a is None or b is None:
        return False
    packed = len(a) == 1 + before and a[1:] == x[-before:]
    return packed and out == (*x[:-before], *b[-after:])


def sizes(op: Operator) -> dict[str, Param]:
    """Torch's arguments as torchaudio's, whose own have no defaults: the sizes of real waves."""
    params = dict(op.params)
    del params["return_complex"]
    params["normalized"] = "frame_length" if params["normalized"] else False
    n_fft = params["n_fft"]
    assert isinstance(n_fft, int)
    defaults = {"hop_length": n_fft // 4, "win_length": n_fft, "onesided": True}
    return params | {name: value for name, value in defaults.items() if params.get(name) is None}


def is_real(operand: Operand) -> bool:
    return operand.dtype is not None and operand.dtype[0] == "f"


def set_inputs(graph: Graph, match: Match, op: Operator, name: str) -> None:
    graph.set_inputs(op, [match.operands["x"], match.operands["w"]], [name, "window"])


NORM = """
        pnnx.Input      x 0 1 x
        pnnx.Input      w 0 1 w
        pnnx.Expression square 1 1 w a expr=pow(@0,2.0)
        torch.sum       sum    1 1 a b
        pnnx.Expression root   1 1 b c expr=sqrt(@0)"""


class WindowNorm(PatternPass):
    """Before: a spectrogram over the root of its window's energy. After: `normalized=window`."""

    pattern = f"""{NORM}
        {SPECTROGRAM}   spectrogram 2 1 x w d normalized=False power=None
        pnnx.Expression norm 2 1 d c out expr=div(@0,@1)
        pnnx.Output     out 1 0 out
    """

    def rewrite(self, graph: Graph, match: Match) -> bool:
        norm, spectrogram = match["norm"], match["spectrogram"]
        if match["sum"].params:
            return False
        norm.type, norm.params = spectrogram.type, spectrogram.params | {"normalized": "window"}
        set_inputs(graph, match, norm, "waveform")
        return True


class InverseWindowNorm(PatternPass):
    """Before: the inverse of a spectrogram times the root of its window's energy.

    After: `normalized=window`.
    """

    pattern = f"""{NORM}
        pnnx.Expression norm 2 1 x c d expr=mul(@0,@1)
        {INVERSE}       inverse 2 1 d w out normalized=False
        pnnx.Output     out 1 0 out
    """

    def rewrite(self, graph: Graph, match: Match) -> bool:
        if match["sum"].params:
            return False
        inverse = match["inverse"]
        inverse.params["normalized"] = "window"
        set_inputs(graph, match, inverse, "spectrogram")
        return True


class Magnitude(PatternPass):
    """Before: a spectrogram of complex numbers, and their magnitudes. After: `power=1`."""

    pattern = f"""
        pnnx.Input      x 0 1 x
        pnnx.Input      w 0 1 w
        {SPECTROGRAM}   spectrogram 2 1 x w a power=None
        pnnx.Expression abs 1 1 a out expr=abs(@0)
        pnnx.Output     out 1 0 out
    """

    def rewrite(self, graph: Graph, match: Match) -> bool:
        return raise_to(graph, match, "abs", 1)


class Power(PatternPass):
    """Before: a spectrogram of magnitudes, and their squares. After: `power=2`."""

    pattern = f"""
        pnnx.Input      x 0 1 x
        pnnx.Input      w 0 1 w
        {SPECTROGRAM}   spectrogram 2 1 x w a power=1
        pnnx.Expression pow 1 1 a out
        pnnx.Output     out 1 0 out
    """

    def rewrite(self, graph: Graph, match: Match) -> bool:
        return number(match["pow"], "pow") == 2 and raise_to(graph, match, "pow", 2)


def raise_to(graph: Graph, match: Match, last: str, power: int) -> bool:
    op = match[last]
    op.type, op.params = SPECTROGRAM, match["spectrogram"].params | {"power": power}
    set_inputs(graph, match, op, "waveform")
    return True


SPECTROGRAMS: tuple[Pass, ...] = (
    Spectrogram(),
    InverseSpectrogram(),
    DeadCode(),
    WindowNorm(),
    InverseWindowNorm(),
    Magnitude(),
    Power(),
)
