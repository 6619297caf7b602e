"""Padding that a convolution can do."""

from __future__ import annotations

import pytest
from graphs import assert_becomes, assert_stays, graph

from converter.passes.conv_padding import ConvPaddingMode, FusePadding

X, A, Y = "(1,3,8,8)f32", "(1,3,10,12)f32", "(1,3,8,10)f32"


def padded(
    pad: str, padding: str = "(0,0)", outputs: str = "1 0 y", conv: str = "nn.Conv2d"
) -> str:
    return f"""
    pnnx.Input in 0 1 x #x={X}
    {pad.replace(" ", " pad 1 1 x a ", 1)} #x={X} #a={A}
    {conv} conv 1 1 a y padding={padding} padding_mode=zeros #a={A} #y={Y}
    pnnx.Output out {outputs}
    """


def convolved(padding: str, mode: str) -> str:
    return f"""
    pnnx.Input in 0 1 x #x={X}
    nn.Conv2d conv 1 1 x y padding={padding} padding_mode={mode} #x={X} #y={Y}
    pnnx.Output out 1 0 y
    """


@pytest.mark.parametrize(
    ("pad", "mode"),
    [
        ("F.pad mode=reflect pad=(2,2,1,1) value=None", "reflect"),
        ("F.pad mode=replicate pad=(2,2,1,1) value=None", "replicate"),
        ("nn.ReflectionPad2d padding=(2,2,1,1)", "reflect"),
        ("nn.ReplicationPad2d padding=(2,2,1,1)", "replicate"),
    ],
)
def test_a_mode_joins_a_convolution_that_pads_nothing(pad, mode):
    assert_becomes(ConvPaddingMode(), graph(padded(pad)), convolved("(1,2)", mode))
    assert_stays(ConvPaddingMode(), padded(pad, "(1,1)"))


def test_a_circular_padding_joins_the_module_that_made_it():
    text = padded("F.pad mode=circular pad=(2,2,1,1) value=None")
    assert_stays(ConvPaddingMode(), text)
    made = graph(text)
    for op in made.operators:
        op.module = ("conv", "torch.nn.modules.conv.Conv2d")
    assert_becomes(ConvPaddingMode(), made, convolved("(1,2)", "circular"))


KERNEL = "kernel_size=(4,3) dilation=(1,2) stride={stride}"


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
@pytest.mark.parametrize(
    ("pad", "stride", "same"),
    [("(2,2,1,2)", "(1,1)", True), ("(2,2,2,1)", "(1,1)", False), ("(2,2,1,2)", "(1,2)", False)],
)
def test_an_uneven_padding_is_that_of_same_where_the_module_made_it(mode, pad, stride, same):
    kernel = KERNEL.format(stride=stride)
    text = padded(f"F.pad mode={mode} pad={pad} value=None", f"(0,0) {kernel}")
    assert_stays(ConvPaddingMode(), text)
    made = graph(text)
    for op in made.operators:
        op.module = ("conv", "torch.nn.modules.conv.Conv2d")
    if same:
        assert_becomes(ConvPaddingMode(), made, convolved("same", f"{mode} {kernel}"))
    else:
        assert not ConvPaddingMode()(made)


@pytest.mark.parametrize(
    "pad",
    [
        "F.pad mode=constant pad=(2,2,1,1) value=None",
        "F.pad mode=constant pad=(2,2,1,1) value=0.0",
        "F.pad mode=constant pad=(2,2,1,1,0,0) value=None",
        "nn.ZeroPad2d padding=(2,2,1,1)",
        "nn.ConstantPad2d padding=(2,2,1,1) value=0.0",
    ],
)
def test_zeros_add_up(pad):
    assert_becomes(FusePadding(), graph(padded(pad)), convolved("(1,2)", "zeros"))
    assert_becomes(FusePadding(), graph(padded(pad, "(1,1)")), convolved("(2,3)", "zeros"))
    assert FusePadding.changes_arithmetic


def test_zeros_around_zeros_add_up_too():
    made = graph(
        f"""
        pnnx.Input in 0 1 x #x={X}
        F.pad one 1 1 x a mode=constant pad=(1,1) value=None #x={X} #a=(1,3,8,10)f32
        F.pad other 1 1 a b mode=constant pad=(1,1,1,1) value=None #a=(1,3,8,10)f32 #b={A}
        nn.Conv2d conv 1 1 b y padding=(0,0) padding_mode=zeros #b={A} #y={Y}
        pnnx.Output out 1 0 y
        """
    )
    assert_becomes(FusePadding(), made, convolved("(1,2)", "zeros"))


@pytest.mark.parametrize(
    "text",
    [
        padded("F.pad mode=constant pad=(2,1,1,1) value=None"),
        padded("F.pad mode=constant pad=(-1,-1,1,1) value=None"),
        padded("F.pad mode=constant pad=(2,2,1,1) value=1.0"),
        padded("F.pad mode=constant pad=(2,2,1,1,1,1) value=None"),
        padded("F.pad mode=constant pad=(2,2,1,1) value=None", padding="same"),
        padded("F.pad mode=constant pad=(2,2,1,1) value=None", outputs="2 0 y a"),
        padded("F.pad mode=constant pad=(2,2,1,1) value=None", conv="nn.ConvTranspose2d"),
        padded("nn.ConstantPad2d padding=(2,2,1,1) value=0.5"),
    ],
)
def test_what_a_convolution_cannot_do_stays(text):
    assert_stays(FusePadding(), text)
    assert_stays(ConvPaddingMode(), text)
