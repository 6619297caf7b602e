"""Short-time Fourier transforms. A complex tensor is a blob of pairs, with one dim more.

Windows are stored values; ncnn computes its own, so they must be one of the three that it has.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from converter.ir import Operator, Param
from converter.ncnn.blob import Blob
from converter.ncnn.layers import INVERSE_SPECTROGRAM, SPECTROGRAM
from converter.ncnn.op import Op
from converter.ncnn.padding import MODES, pad
from converter.ncnn.registry import ncnn
from converter.ncnn.shape import squeezed
from converter.ncnn.slicing import Part, cropped

COMPLEX, AMPLITUDE, POWER = 0, 1, 2
ONES, HANN, HAMMING = 0, 1, 2
NOT_NORMALIZED, BY_FRAME, BY_WINDOW = 0, 1, 2
WINDOW_TOLERANCE = 1e-6
"""A window is known if each value is that near: its cosines are rounded to single precision."""


def _waves(op: Operator) -> int | None:
    """Axis 0 of two is the batch."""
    shape = op.inputs[0].shape
    return 0 if shape is not None and len(shape) == 2 else None


@ncnn("torch.stft", batch=_waves, dtypes="checked")
def stft(op: Op) -> Blob:
    normalized = BY_FRAME if op.params.get("normalized") else NOT_NORMALIZED
    return _spectrogram(op, op.need("input", 0), COMPLEX, normalized)


@ncnn("torchaudio.functional.spectrogram", batch=_waves, dtypes="checked")
def spectrogram(op: Op) -> Blob:
    powers: dict[Param, int] = {None: COMPLEX, 1: AMPLITUDE, 2: POWER}
    power = op.params.get("power")
    if power not in powers:
        op.refuse(f"power={power} is not expressible in ncnn", "use 1, 2 or None")
    x = op.need("waveform", 0)
    if op.integer("pad", 0):
        x = pad(op, x, [(op.integer("pad"), op.integer("pad"))], "constant")
    return _spectrogram(op, x, powers[power], _normalization(op))


def _normalization(op: Op) -> int:
    """torchaudio's normalization, whose True is that of the window."""
    kinds = {
        False: NOT_NORMALIZED,
        True: BY_WINDOW,
        "window": BY_WINDOW,
        "frame_length": BY_FRAME,
    }
    value = op.params.get("normalized", False)
    if value not in kinds:
        op.refuse(f"normalized={value} is not expressible in ncnn")
    return kinds[value]


def _spectrogram(op: Op, x: Blob, power: int, normalized: int) -> Blob:
    """Of waves in the last dim; what is before that is the batch."""
    if x.dtype not in (None, "f32"):
        op.refuse(f"transforms {x.dtype}", "give it single precision")
    *lead, length = op.sizes(x)
    waves = op.view(x, (math.prod(lead), length) if lead else (length,), 0 if lead else None)
    frame, hop, window = _frames(op)
    onesided = op.params.get("onesided") is not False
    centred = op.flag("center", True)
    call = SPECTROGRAM(
        n_fft=frame,
        power=power,
        hoplen=hop,
        **window,
        center=int(centred),
        pad_type=MODES[op.text("pad_mode", "reflect")],
        normalized=normalized,
        onesided=int(onesided),
    )
    count = 1 + (length + (frame // 2 * 2 if centred else 0) - frame) // hop
    inner = (frame // 2 + 1 if onesided else frame, count, *((2,) if power == COMPLEX else ()))
    made = op.emit(call, waves, shape=(*waves.shape[:-1], *inner))
    made = op.view(made, (*lead, *inner), made.batch)
    return replace(made, dtype="c64") if power == COMPLEX else made


def _frames(op: Op) -> tuple[int, int, dict[str, int]]:
    """The length of a frame, the step to the next, and the window."""
    frame = op.integer("n_fft")
    hop = frame // 4 if op.params.get("hop_length") is None else op.integer("hop_length")
    length = frame if op.params.get("win_length") is None else op.integer("win_length")
    window = op.argument("window", 1)
    kind = ONES if window is None else _window(op, window, length)
    return frame, hop, {"winlen": length, "window_type": kind}


def _window(op: Op, window: Blob, length: int) -> int:
    if window.values is None or window.shape != (length,):
        op.refuse("its window is no stored tensor", "make the window a buffer of the module")
    values = window.values.array().astype(np.float64)
    turn = np.cos(2 * np.pi * np.arange(length) / length)
    known = {ONES: np.ones(length), HANN: 0.5 - 0.5 * turn, HAMMING: 0.54 - 0.46 * turn}
    for kind, expected in known.items():
        if np.allclose(values, expected, rtol=0, atol=WINDOW_TOLERANCE):
            return kind
    return op.refuse(
        "its window is not expressible in ncnn", "use a periodic Hann or Hamming window"
    )


@ncnn("torch.view_as_real", dtypes="checked")
def view_as_real(op: Op) -> Blob:
    return replace(op.blob(), dtype="f32")


@ncnn("torch.view_as_complex", dtypes="checked")
def view_as_complex(op: Op) -> Blob:
    return replace(op.blob(), dtype="c64")


@ncnn("torch.real", "torch.imag", dtypes="checked")
def part(op: Op) -> Blob:
    """One of each pair."""
    x = op.blob()
    if x.dtype != "c64":
        op.refuse(f"takes a part of {x.dtype}", "give it a complex tensor in single precision")
    dim = x.rank - 1
    place = 0 if op.type == "torch.real" else 1
    return squeezed(op, cropped(op, replace(x, dtype="f32"), [Part(dim, place, place + 1)]), dim)


@ncnn("torch.istft", dtypes="checked")
def istft(op: Op) -> Blob:
    op.expect("return_complex", False)
    normalized = BY_FRAME if op.params.get("normalized") else NOT_NORMALIZED
    return _inverse(op, op.need("input", 0), normalized)


@ncnn("torchaudio.functional.inverse_spectrogram", dtypes="checked")
def inverse_spectrogram(op: Op) -> Blob:
    if op.integer("pad", 0):
        op.refuse("pad is not expressible in ncnn", "slice the wave")
    return _inverse(op, op.need("spectrogram", 0), _normalization(op))


def _inverse(op: Op, x: Blob, normalized: int) -> Blob:
    if x.dtype != "c64":
        op.refuse(f"transforms {x.dtype}", "give it a complex tensor in single precision")
    op.expect("onesided", True, None)
    *lead, bins, count, _ = op.sizes(x)
    pairs = (bins, count, 2)
    batch = 0 if lead else None
    x = op.view(x, (math.prod(lead), *pairs) if lead else pairs, batch)
    frame, hop, window = _frames(op)
    centred = op.flag("center", True)
    length = frame + hop * (count - 1) - (frame // 2 * 2 if centred else 0)
    if op.params.get("length") not in (None, length):
        op.refuse(f"length={op.params['length']} is not the wave's {length}", "leave it out")
    call = INVERSE_SPECTROGRAM(
        n_fft=frame,
        returns=1,
        hoplen=hop,
        **window,
        center=int(centred),
        normalized=normalized,
    )
    made = op.emit(call, x, shape=(*x.shape[:-3], length))
    return op.view(made, (*lead, length), batch)
