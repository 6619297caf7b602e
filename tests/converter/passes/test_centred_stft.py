"""Short-time Fourier transforms that pad by themselves."""

from __future__ import annotations

import pytest
from graphs import assert_becomes, assert_stays, graph

from converter.passes.centred_stft import CentredStft
from converter.passes.dead_code import DeadCode

WAVES = {
    1: ("(128)f32", "(1,1,128)f32", "(1,1,144)f32", "(144)f32", "(9,33)c64"),
    2: ("(2,128)f32", "(1,2,128)f32", "(1,2,144)f32", "(2,144)f32", "(2,9,33)c64"),
}
"""The shapes of the waves, with three dims, padded, and with their own dims; the spectrum's."""


def padded(
    rank: int,
    pad: str = "mode=reflect pad=(8,8) value=None",
    center: bool = False,
    outputs: str = "1 0 y",
) -> str:
    x, a, b, c, y = WAVES[rank]
    return f"""
    pnnx.Input in 0 1 x #x={x}
    pnnx.Attribute window 0 1 w @data=(16)f32 #w=(16)f32
    Tensor.reshape extend 1 1 x a shape={a[:-3]} #x={x} #a={a}
    F.pad pad 1 1 a b {pad} #a={a} #b={b}
    Tensor.reshape back 1 1 b c shape={c[:-3]} #b={b} #c={c}
    torch.stft stft 2 1 c w y center={center} n_fft=16 $input=c $window=w #c={c} #w=(16)f32 #y={y}
    pnnx.Output out {outputs}
    """


def centred(rank: int, mode: str) -> str:
    x, *_, y = WAVES[rank]
    return f"""
    pnnx.Input in 0 1 x #x={x}
    pnnx.Attribute window 0 1 w @data=(16)f32 #w=(16)f32
    torch.stft stft 2 1 x w y center=True n_fft=16 pad_mode={mode} $input=x $window=w #x={x} #y={y}
    pnnx.Output out 1 0 y
    """


@pytest.mark.parametrize("rank", [1, 2])
@pytest.mark.parametrize("mode", ["reflect", "constant", "replicate", "circular"])
def test_the_padding_of_half_a_frame_is_the_centring(rank, mode):
    before = graph(padded(rank, f"mode={mode} pad=(8,8) value=None"))
    assert_becomes(CentredStft(), before, centred(rank, mode))


def test_padded_waves_stay_for_those_who_read_them():
    made = graph(padded(1, outputs="2 0 y b"))
    assert CentredStft()(made)
    DeadCode()(made)
    assert [op.type for op in made.operators].count("F.pad") == 1
    (stft,) = made.of_type("torch.stft")
    assert stft.input("input").name == "x"


@pytest.mark.parametrize(
    "text",
    [
        padded(1, "mode=reflect pad=(8,7) value=None"),
        padded(1, "mode=reflect pad=(4,4) value=None"),
        padded(2, "mode=reflect pad=(8,8,0,0) value=None"),
        padded(1, "mode=constant pad=(8,8) value=1.0"),
        padded(1, center=True),
    ],
)
def test_any_other_padding_stays(text):
    assert_stays(CentredStft(), text)
