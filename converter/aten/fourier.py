"""Fourier transforms, and the forms that decompositions leave of them."""

from __future__ import annotations

from converter.aten.call import Arg, Call
from converter.aten.emit import Emitter
from converter.aten.expr import sizes_of
from converter.aten.registry import lowers, same

KINDS = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
for name in [kind + dims for kind in KINDS for dims in ("", "2", "n")] + ["fftshift", "ifftshift"]:
    same(f"fft_{name}.default", f"torch.fft.{name}")

same("istft.default", "torch.istft")


@lowers("stft.default", "stft.center")
def stft(call: Call, emit: Emitter) -> None:
    """`torch.stft` pads before it calls ATen's, which then has no `center` of its own."""
    arguments = {"input": call.args["self"], "center": False, "pad_mode": "reflect", **call.args}
    del arguments["self"]
    if arguments["align_to_window"] is None:
        del arguments["align_to_window"]
    emit.op("torch.stft", call.output, **arguments)


FORWARD = ("backward", "ortho", "forward")
"""torch.fft's `norm` for transforms that are not scaled, by the root of n, and by n."""

INVERSE = ("forward", "ortho", "backward")
"""The same for inverse transforms."""


@lowers("_fft_r2c.default")
def real_to_complex(call: Call, emit: Emitter) -> None:
    dims = call.integers("dim")
    arguments: dict[str, Arg] = {
        "input": call.tensor("self"),
        "norm": FORWARD[call.integer("normalization")],
    }
    if call.flag("onesided"):
        emit.op("torch.fft.rfftn", call.output, dim=dims, s=None, **arguments)
    elif len(dims) == 1:
        emit.op("torch.fft.fft", call.output, dim=dims[0], n=None, **arguments)
    else:
        raise call.refuse("it is a transform of real values over several dims to all frequencies")


@lowers("_fft_c2r.default")
def complex_to_real(call: Call, emit: Emitter) -> None:
    source, dims = call.tensor("self"), call.integers("dim")
    sizes = sizes_of(source)
    emit.op(
        "torch.fft.irfftn",
        call.output,
        input=source,
        dim=dims,
        norm=INVERSE[call.integer("normalization")],
        s=(*(sizes[dim] for dim in dims[:-1]), call.size("last_dim_size")),
    )


@lowers("_fft_c2c.default")
def complex_to_complex(call: Call, emit: Emitter) -> None:
    norm, forward = call.integer("normalization"), call.flag("forward")
    emit.op(
        "torch.fft.fftn" if forward else "torch.fft.ifftn",
        call.output,
        input=call.tensor("self"),
        dim=call.integers("dim"),
        norm=FORWARD[norm] if forward else INVERSE[norm],
        s=None,
    )
