"""torchaudio's spectrograms and their inverses, recognized as torchaudio composes them."""

from __future__ import annotations

import pytest
from graphs import graph

from converter.ir import Graph
from converter.passes.dead_code import DeadCode
from converter.passes.spectrograms import INVERSE, SPECTROGRAM, SPECTROGRAMS
from suites.structure import differences

SIZES = "center=True hop_length=4 n_fft=16 onesided=True win_length=16"
WINDOW = "pnnx.Attribute window 0 1 w @data=(16)f32 #w=(16)f32"
ENERGY = """
    pnnx.Expression square 1 1 w p expr=pow(@0,2.0)
    torch.sum       sum    1 1 p q $input=p
    pnnx.Expression root   1 1 q r expr=sqrt(@0)
"""
WAVES = "pnnx.Input in 0 1 x #x=(1,2,64)f32"
NORM = "pnnx.Expression norm 2 1 y r n expr=div(@0,@1) #n=(1,2,9,17)c64"
MAGNITUDE = "pnnx.Expression abs 1 1 {} m expr=abs(@0) #m=(1,2,9,17)f32"
POWER = "pnnx.Expression pow 1 1 m s expr=pow(@0,{}) #s=(1,2,9,17)f32"


def transform(
    rest: str = "",
    last: str = "y",
    normalized: bool = False,
    packed: str = "(2,64)",
    unpacked: str = "(1,2,9,17)",
) -> str:
    """A spectrum by torch.stft, and what is done with it."""
    return f"""
    {WAVES}
    {WINDOW}
    {ENERGY}
    Tensor.reshape pack   1 1 x a shape={packed} $input=x #a={packed}f32
    torch.stft     stft   2 1 a w b {SIZES} normalized={normalized} return_complex=True $input=a $window=w #b=(2,9,17)c64
    Tensor.reshape unpack 1 1 b y shape={unpacked} $input=b #y={unpacked}c64
    {rest}
    pnnx.Output out 1 0 {last}
    """  # noqa: E501


def spectrogram(normalized: str = "False", power: int | None = None, rest: str = "") -> str:
    kind = "c64" if power is None else "f32"
    return f"""
    {WAVES}
    {WINDOW}
    {SPECTROGRAM} made 2 1 x w m {SIZES} normalized={normalized} pad=0 power={power} $waveform=x $window=w #x=(1,2,64)f32 #w=(16)f32 #m=(1,2,9,17){kind}
    {rest}
    pnnx.Output out 1 0 {"s" if rest else "m"}
    """  # noqa: E501


SPECTRA = "pnnx.Input in 0 1 x #x=(1,2,9,17)c64"
NORM_BACK = "pnnx.Expression norm 2 1 x r n expr=mul(@0,@1) #n=(1,2,9,17)c64"


def inverse_transform(length: int | None = None, normalized: bool = False, norm: str = "") -> str:
    read = "n" if norm else "x"
    return f"""
    {SPECTRA}
    {WINDOW}
    {ENERGY}
    {norm}
    Tensor.reshape pack   1 1 {read} a shape=(2,9,17) $input={read} #a=(2,9,17)c64
    torch.istft    istft  2 1 a w b {SIZES} length={length} normalized={normalized} return_complex=False $input=a $window=w #b=(2,64)f32
    Tensor.reshape unpack 1 1 b y shape=(1,2,64) $input=b #y=(1,2,64)f32
    pnnx.Output out 1 0 y
    """  # noqa: E501


def inverse(normalized: str = "False") -> str:
    return f"""
    {SPECTRA}
    {WINDOW}
    {INVERSE} made 2 1 x w y {SIZES} length=None normalized={normalized} pad=0 $spectrogram=x $window=w #y=(1,2,64)f32
    pnnx.Output out 1 0 y
    """  # noqa: E501


def unsaid(text: str) -> str:
    """The same sizes, left to torch."""
    return text.replace(SIZES, "center=True hop_length=None n_fft=16 onesided=None win_length=None")


def after_all(text: str) -> Graph:
    """The graph after all the passes, in their order."""
    made = graph(text)
    for one in SPECTROGRAMS:
        one(made)
    DeadCode()(made)
    return made


RECOGNIZED = [
    (transform(), spectrogram()),
    (transform(normalized=True), spectrogram("frame_length")),
    (transform(NORM, "n"), spectrogram("window")),
    (transform(MAGNITUDE.format("y"), "m"), spectrogram(power=1)),
    (
        transform("\n".join([NORM, MAGNITUDE.format("n"), POWER.format("2.0")]), "s"),
        spectrogram("window", 2),
    ),
    (
        transform("\n".join([MAGNITUDE.format("y"), POWER.format("1.5")]), "s"),
        spectrogram(power=1, rest=POWER.format("1.5")),
    ),
    (unsaid(transform()), spectrogram()),
    (inverse_transform(), inverse()),
    (unsaid(inverse_transform()), inverse()),
    (inverse_transform(normalized=True), inverse("frame_length")),
    (inverse_transform(norm=NORM_BACK), inverse("window")),
]


@pytest.mark.parametrize(("before", "after"), RECOGNIZED)
def test_what_torchaudio_composes(before, after):
    assert list(map(str, differences(after_all(before), graph(after)))) == []


@pytest.mark.parametrize(
    "text",
    [
        transform(packed="(2,1,64)"),
        inverse_transform(length=60),
        transform(unpacked="(2,1,9,17)"),
        transform(last="b"),
        transform().replace("#a=(2,64)f32", "#a=(2,64)c64"),
    ],
    ids=[
        "packed otherwise",
        "cut to a length",
        "unpacked otherwise",
        "the packed spectrum is read",
        "complex waves",
    ],
)
def test_what_it_does_not_compose(text):
    before = graph(text)
    DeadCode()(before)
    assert list(map(str, differences(after_all(text), before))) == []


def test_the_energy_of_another_tensor_is_no_normalization():
    other = NORM.replace("y r", "y q")
    types = [op.type for op in after_all(transform(other, "n")).operators]
    assert types[-2:] == ["pnnx.Expression", "pnnx.Output"]
