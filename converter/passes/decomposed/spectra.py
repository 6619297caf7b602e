"""Short-time Fourier transforms, which decompositions make of frames, a window and a transform."""

from __future__ import annotations

from converter.ir import Graph, Param
from converter.passes.centred_stft import centre
from converter.passes.decomposed.base import Decomposed
from converter.passes.pattern import Match, PatternPass

FRAMES = "Tensor.unfold frames 1 1 input a dimension=%dimension size=%size step=%step"
WINDOW = "pnnx.Expression mul 2 1 a window b expr=mul(@0,@1)"
ONE_SIDE = "torch.fft.rfftn fft 1 1 {} c dim=%dim norm=%norm s=None"
TWO_SIDES = "torch.fft.fft fft 1 1 {} c dim=%dim norm=%norm n=None"
TURNED = "Tensor.permute last 1 1 c out dims=%dims"
NORMALIZED: dict[Param, bool] = {"backward": False, "ortho": True}


class ShortTime(Decomposed):
    """Before: windowed frames of the rows of a matrix, transformed, the frames then last.

    After: `torch.stft`, which does the padding too that is before it.
    """

    def __init__(self, windowed: bool, onesided: bool) -> None:
        transform = (ONE_SIDE if onesided else TWO_SIDES).format("b" if windowed else "a")
        lines = [FRAMES, *([WINDOW] if windowed else []), transform, TURNED]
        inputs = ("input", "window") if windowed else ("input",)
        super().__init__("stft", "torch.stft", "\n".join(lines), inputs, onesided=onesided)

    def rewrite(self, graph: Graph, match: Match) -> bool:
        found = dict(match.captured)
        shapes = [match.operands[name].shape for name in self.inputs]
        frame = found["size"]
        if len(shapes[0] or ()) != 2 or found["dimension"] not in (-1, 1):
            return False
        if found["dim"] not in (2, (2,)) or found["dims"] != (0, 2, 1):
            return False
        if found["norm"] not in NORMALIZED or shapes[1:] not in ([], [(frame,)]):
            return False
        match.captured.clear()
        match.captured |= {
            "center": False,
            "hop_length": found["step"],
            "n_fft": frame,
            "normalized": NORMALIZED[found["norm"]],
            "pad_mode": "reflect",
            "return_complex": True,
            "win_length": frame,
        }
        if not super().rewrite(graph, match):
            return False
        centre(graph, match["last"])
        return True


SPECTRA: tuple[PatternPass, ...] = tuple(
    ShortTime(windowed, onesided) for windowed in (True, False) for onesided in (True, False)
)
