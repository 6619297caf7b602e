"""Shuffles of channels and pixels, against torch's own modules."""

from __future__ import annotations

import pytest
import torch
from graphs import assert_becomes, assert_stays, graph

from converter.passes.shuffles import Shuffles


def steps(before: str, split: str, permute: str, moved: str, after: str) -> str:
    return f"""
    pnnx.Input in 0 1 x #x={before}f32
    Tensor.reshape split 1 1 x a shape={split} #x={before}f32 #a={split}f32
    {permute} #a={split}f32 #b={moved}f32
    Tensor.reshape join 1 1 b y shape={after} #b={moved}f32 #y={after}f32
    pnnx.Output out 1 0 y
    """


def module(type: str, before: str, after: str, params: str) -> str:
    return f"""
    pnnx.Input in 0 1 x #x={before}f32
    {type} m 1 1 x y {params} #x={before}f32 #y={after}f32
    pnnx.Output out 1 0 y
    """


CHANNELS = steps(
    "(2,6,4,5)",
    "(2,3,2,4,5)",
    "torch.transpose p 1 1 a b dim0=1 dim1=2",
    "(2,2,3,4,5)",
    "(2,6,4,5)",
)
VOLUMES = steps(
    "(2,6,3,4,5)",
    "(2,2,3,3,4,5)",
    "Tensor.permute p 1 1 a b dims=(0,2,1,3,4,-1)",
    "(2,3,2,3,4,5)",
    "(2,6,3,4,5)",
)
UP = steps(
    "(2,12,4,5)",
    "(2,3,2,2,4,5)",
    "Tensor.permute p 1 1 a b dims=(0,1,4,2,5,3)",
    "(2,3,4,2,5,2)",
    "(2,3,8,10)",
)
DOWN = steps(
    "(2,3,4,6)",
    "(2,3,2,2,3,2)",
    "Tensor.permute p 1 1 a b dims=(0,1,3,5,2,4)",
    "(2,3,2,2,2,3)",
    "(2,12,2,3)",
)


@pytest.mark.parametrize(
    ("text", "type", "before", "after", "params"),
    [
        (CHANNELS, "nn.ChannelShuffle", "(2,6,4,5)", "(2,6,4,5)", "groups=3"),
        (VOLUMES, "nn.ChannelShuffle", "(2,6,3,4,5)", "(2,6,3,4,5)", "groups=2"),
        (UP, "nn.PixelShuffle", "(2,12,4,5)", "(2,3,8,10)", "upscale_factor=2"),
        (DOWN, "nn.PixelUnshuffle", "(2,3,4,6)", "(2,12,2,3)", "downscale_factor=2"),
    ],
)
def test_three_steps_are_a_module(text, type, before, after, params):
    assert_becomes(Shuffles(), graph(text), module(type, before, after, params))


@pytest.mark.parametrize(
    "text",
    [
        CHANNELS.replace("dim0=1 dim1=2", "dim0=2 dim1=3"),
        CHANNELS.replace("shape=(2,6,4,5)", "shape=(2,6,20)").replace("y=(2,6,4,5)", "y=(2,6,20)"),
        CHANNELS.replace("(2,3,2,4,5)", "(240)").replace("torch.transpose p", "Tensor.permute p")
        .replace("dim0=1 dim1=2", "dims=(0)").replace("(2,2,3,4,5)", "(240)"),
        VOLUMES.replace("(0,2,1,3,4,-1)", "(0,2,1,4,3,5)"),
        UP.replace("(0,1,4,2,5,3)", "(0,1,4,3,5,2)"),
        UP.replace("(2,3,2,2,4,5)", "(2,2,2,3,4,5)"),
        DOWN.replace("out 1 0 y", "out 2 0 y a"),
        DOWN.replace("out 1 0 y", "out 2 0 y b"),
    ],
)  # fmt: skip
def test_other_steps_stay(text):
    assert_stays(Shuffles(), text)


def test_the_steps_are_those_of_torch():
    x = torch.rand(2, 12, 4, 6)
    split = x.reshape(2, 3, 4, 4, 6).transpose(1, 2).reshape(2, 12, 4, 6)
    assert torch.equal(torch.nn.ChannelShuffle(3)(x), split)
    up = x.reshape(2, 3, 2, 2, 4, 6).permute(0, 1, 4, 2, 5, 3).reshape(2, 3, 8, 12)
    assert torch.equal(torch.nn.PixelShuffle(2)(x), up)
    down = x.reshape(2, 12, 2, 2, 3, 2).permute(0, 1, 3, 5, 2, 4).reshape(2, 48, 2, 3)
    assert torch.equal(torch.nn.PixelUnshuffle(2)(x), down)


def test_dims_may_be_split_and_joined_by_name():
    spelled = CHANNELS.replace(
        "Tensor.reshape split 1 1 x a shape=(2,3,2,4,5)",
        "Tensor.unflatten split 1 1 x a dim=1 sizes=(3,2)",
    ).replace(
        "Tensor.reshape join 1 1 b y shape=(2,6,4,5)",
        "torch.flatten join 1 1 b y start_dim=1 end_dim=2",
    )
    assert "Tensor.reshape" not in spelled
    after = module("nn.ChannelShuffle", "(2,6,4,5)", "(2,6,4,5)", "groups=3")
    assert_becomes(Shuffles(), graph(spelled), after)
