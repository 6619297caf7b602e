"""torchaudio's spectrograms by torch's own transforms: a generated module needs torch alone.

The calls are those of torchaudio.functional, in their order: what a module exports of itself is the
same graph again. https://docs.pytorch.org/audio/stable/generated/torchaudio.functional.spectrogram.html
"""

from __future__ import annotations

from collections.abc import Mapping

from converter.ir import Operator, Param
from converter.pnnx.literal import literal
from converter.pnnx.names import words
from converter.pnnx.scope import Scope, arguments, refuse

_TRANSFORMED = words("center hop_length n_fft onesided pad_mode win_length window")
"""What torch.stft and torch.istft take as it is."""

_NORMALIZED: Mapping[Param, str] = {
    False: "",
    True: "window",
    "window": "window",
    "frame_length": "frame_length",
}
"""torchaudio's arguments, and what the transform is divided by."""


def spectrogram(op: Operator, scope: Scope) -> None:
    """Pad, transform with all but the last dim as one, norm by the window, raise to `power`."""
    waves, window, norm, named = _read(op, scope, "waveform", ("power",))
    if pad := _number(op, "pad"):
        waves = scope.hoist(f"F.pad({waves}, ({pad}, {pad}))")
    packed = f"{waves}.reshape(-1, {waves}.shape[-1])"
    spectra = scope.hoist(f"torch.stft({packed}, {named}, return_complex=True)")
    text = f"{spectra}.reshape(*{waves}.shape[:-1], *{spectra}.shape[-2:])"
    if norm == "window":
        text = f"{scope.hoist(text)} / {_energy(window)}"
    power = op.params.get("power")
    if power is not None:
        text = f"{scope.hoist(text)}.abs()"
        text += f".pow({literal(power)})" * (power != 1)
    scope.assign(op, text)


def inverse_spectrogram(op: Operator, scope: Scope) -> None:
    """Undo the norm by the window, transform with all but two dims as one, cut `pad` off."""
    spectra, window, norm, named = _read(op, scope, "spectrogram", ("length",))
    pad, length = _number(op, "pad") or 0, _number(op, "length")
    if norm == "window":
        spectra = scope.hoist(f"{spectra} * {_energy(window)}")
    packed = f"{spectra}.reshape(-1, *{spectra}.shape[-2:])"
    whole = None if length is None else length + 2 * pad
    waves = scope.hoist(f"torch.istft({packed}, {named}, length={literal(whole)})")
    if pad and length is not None:
        waves = scope.hoist(f"{waves}[:, {pad}:-{pad}]")
    scope.assign(op, f"{waves}.reshape(*{spectra}.shape[:-2], {waves}.shape[-1])")


def _read(
    op: Operator, scope: Scope, source: str, own: tuple[str, ...]
) -> tuple[str, str, str, str]:
    """The tensor, the window, whose norm divides (the window's, the frame's), and the rest."""
    given = dict(arguments(op, scope))
    if set(given) - _TRANSFORMED - {source, "normalized", "pad", *own}:
        raise refuse(op, "it has an argument that torchaudio's function has not")
    if not op.has_input(source) or not op.has_input("window"):
        raise refuse(op, f"it takes a {source} and a window")
    norm = _NORMALIZED.get(op.params.get("normalized", False))
    if norm is None:
        raise refuse(op, "it is not normalized by the window or by frame_length")
    named = {name: text for name, text in given.items() if name in _TRANSFORMED}
    named["normalized"] = literal(norm == "frame_length")
    listed = ", ".join(f"{name}={text}" for name, text in named.items())
    return given[source], given["window"], norm, listed


def _number(op: Operator, name: str) -> int | None:
    value = op.params.get(name)
    if not (value is None or isinstance(value, int)):
        raise refuse(op, f"its {name} is {value!r}, not a number")
    return value


def _energy(window: str) -> str:
    return f"{window}.pow(2.0).sum().sqrt()"
