"""Tensors that are computed of numbers alone: windows of signals, even steps.

pnnx stores what they are, the generated module computes them as PyTorch does; ncnn's network has
them stored, rounded once.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from converter.ir import Attribute
from converter.ncnn.blob import Blob
from converter.ncnn.graph import FLOATS
from converter.ncnn.op import Op
from converter.ncnn.registry import ncnn

Values = npt.NDArray[np.floating]


def stored(type: str, size: str, values: Callable[[Op], Values]) -> None:
    """`size` is the param that tells how many there are."""

    @ncnn(type, dtypes="checked")
    def constant(op: Op) -> Blob:
        if op.output.dtype not in FLOATS:
            op.refuse(f"makes {op.output.dtype}, and ncnn holds floats")
        op.check_room((op.integer(size),))
        return op.constant(Attribute.of(values(op).astype(np.float32)))


def window(type: str, values: Callable[[Op, Values], Values]) -> None:
    """`values` are those at places from 0, the beginning, to 1: the end, or one step beyond it."""

    def places(op: Op) -> Values:
        length = op.integer("window_length")
        steps = length - (not op.flag("periodic", True))
        return values(op, np.arange(length) / steps) if length > 1 else np.ones(length)

    stored(type, "window_length", places)


def turn(places: Values) -> Values:
    made: Values = np.cos(2 * np.pi * places)
    return made


def hamming(op: Op, places: Values) -> Values:
    return op.number("alpha", 0.54) - op.number("beta", 0.46) * turn(places)


def kaiser(op: Op, places: Values) -> Values:
    beta = op.number("beta", 12.0)
    return np.i0(beta * np.sqrt(1 - (2 * places - 1) ** 2)) / np.i0(beta)


window("torch.bartlett_window", lambda op, places: 1 - abs(2 * places - 1))
window(
    "torch.blackman_window",
    lambda op, places: 0.42 - 0.5 * turn(places) + 0.08 * turn(2 * places),
)
window("torch.hamming_window", hamming)
window("torch.hann_window", lambda op, places: 0.5 - 0.5 * turn(places))
window("torch.kaiser_window", kaiser)


def logspace(op: Op) -> Values:
    exponents = np.linspace(op.number("start"), op.number("end"), op.integer("steps"))
    return op.number("base", 10.0) ** exponents


stored("torch.logspace", "steps", logspace)
stored("torch.fft.fftfreq", "n", lambda op: np.fft.fftfreq(op.integer("n"), op.number("d", 1.0)))
stored("torch.fft.rfftfreq", "n", lambda op: np.fft.rfftfreq(op.integer("n"), op.number("d", 1.0)))
