"""Convolutions, pooling, padding, resampling: every rank and argument."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from equality import AS_EXPORTED, ROUNDED, check
from torch import nn

torch.manual_seed(0)
one = torch.randn(2, 4, 9)
two = torch.randn(2, 4, 9, 8)
three = torch.randn(1, 4, 6, 7, 8)
kernels = {rank: torch.randn(6, 4, *[3] * rank) for rank in (1, 2, 3)}
grouped = {rank: torch.randn(6, 2, *[3] * rank) for rank in (1, 2, 3)}
bias = torch.randn(6)
inputs = {1: one, 2: two, 3: three}


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_convolutions(rank: int) -> None:
    conv = f"F.conv{rank}d"
    transposed = f"F.conv_transpose{rank}d"
    strides = tuple(range(1, rank + 1))
    module = getattr(nn, f"Conv{rank}d")
    transposed_module = getattr(nn, f"ConvTranspose{rank}d")
    check(
        f"{conv}(x, w), {conv}(x, w, b, 2, 1), {conv}(x, w, b, {strides}, {strides}, 2)",
        f"{conv}(x, g, b, groups=2), {conv}(x, w, padding='same'), {conv}(x, w, padding='valid')",
        f"{conv}(x, w, padding='same', dilation=2), {conv}(x[0], w, b, padding=1)",
        f"{transposed}(x, t), {transposed}(x, t, b, 2, 1, 1), {transposed}(x, u, b, groups=2)",
        f"{transposed}(x, t, stride={strides}, dilation=2, output_padding=0)",
        f"{transposed}(x[0], t, b)",
        f"{conv}(x.double(), w.double(), b.double())",
        "same(x), strided(x), depthwise(x), reflected(x), circular(x), unbiased(x), up(x)",
        "up_grouped(x)",
        x=inputs[rank],
        w=kernels[rank],
        g=grouped[rank],
        t=kernels[rank].transpose(0, 1).contiguous(),
        u=torch.randn(4, 3, *[3] * rank),
        b=bias,
        same=module(4, 6, 3, padding="same"),
        strided=module(4, 6, 3, stride=2, padding=1, dilation=2),
        depthwise=module(4, 8, 3, groups=4),
        reflected=module(4, 6, 3, padding=1, padding_mode="reflect"),
        circular=module(4, 6, 3, padding=2, padding_mode="circular"),
        unbiased=module(4, 6, 2, bias=False),
        up=transposed_module(4, 6, 3, stride=2, output_padding=1),
        up_grouped=transposed_module(4, 6, 3, groups=2, bias=False),
    )


def test_weight_norm() -> None:
    """A folded weight is rounded once more."""
    new, old = nn.utils.parametrizations.weight_norm, nn.utils.weight_norm
    check(
        "conv(one), up(one), whole(one), old(one), dense(one)",
        one=one,
        conv=new(nn.Conv1d(4, 6, 3)),
        up=new(nn.ConvTranspose1d(4, 6, 3), dim=1),
        whole=new(nn.Conv1d(4, 6, 3), dim=None),
        old=old(nn.Conv1d(4, 6, 3)),
        dense=new(nn.Linear(9, 5)),
        how=ROUNDED,
    )


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_pooling(rank: int) -> None:
    sizes = tuple(range(2, rank + 2))
    more = "" if rank == 1 else f", F.avg_pool{rank}d(x, 3, divisor_override=4)"
    check(
        f"F.avg_pool{rank}d(x, 2), F.avg_pool{rank}d(x, 3, 2, 1, True, False){more}",
        f"F.avg_pool{rank}d(x, {sizes}, {sizes}), F.avg_pool{rank}d(x[0], 2)",
        f"F.max_pool{rank}d(x, 2), F.max_pool{rank}d(x, 3, 2, 1, ceil_mode=True)",
        f"F.max_pool{rank}d(x, 2, dilation=2), F.max_pool{rank}d(x, {sizes}, return_indices=True)",
        f"F.max_pool{rank}d(x[0], 2, return_indices=True)",
        f"F.adaptive_avg_pool{rank}d(x, 1), F.adaptive_avg_pool{rank}d(x, {sizes})",
        f"F.adaptive_max_pool{rank}d(x, 1)",
        f"F.adaptive_max_pool{rank}d(x, {sizes}, return_indices=True)",
        f"F.adaptive_avg_pool{rank}d(x, {(None,) * (rank - 1) + (2,)})",
        f"F.lp_pool{rank}d(x.abs(), 2, 3)",
        f"unpool(*F.max_pool{rank}d(x, 2, return_indices=True), 2, output_size=x.shape)",
        f"unpool(*F.max_pool{rank}d(x, 4, return_indices=True), 4, output_size=x.shape[2:])",
        x=inputs[rank],
        unpool=getattr(F, f"max_unpool{rank}d"),
    )


def test_padding() -> None:
    check(
        "F.pad(one, (1, 2)), F.pad(one, (1, 2), value=3.5), F.pad(two, (1, 2, 3, 0))",
        "F.pad(two, (1, -2))",
        "F.pad(one, (1, 2), 'reflect'), F.pad(two, (1, 2, 3, 0), 'reflect')",
        "F.pad(three, (1, 2, 1, 0, 1, 1), 'reflect')",
        "F.pad(one, (1, 2), 'replicate'), F.pad(two, (1, 2, 3, 0), 'replicate')",
        "F.pad(three, (1, 2, 1, 0, 1, 1), 'replicate'), F.pad(one, (1, 2), 'circular')",
        "F.pad(two, (1, 2, 3, 0), 'circular')",
        "F.pad(one.int(), (1, 1), value=2), F.pad(one > 0, (0, 1), value=True)",
        "F.pad(one, (1, 1, 1, 1, 1, 1))",
        "zero(two), constant(one), mirror(two), edge(three), around(one)",
        "F.pad(one[0], (1, 1), 'reflect')",
        one=one,
        two=two,
        three=three,
        zero=nn.ZeroPad2d((1, 2, 3, 4)),
        constant=nn.ConstantPad1d(2, 3.5),
        mirror=nn.ReflectionPad2d(2),
        edge=nn.ReplicationPad3d(1),
        around=nn.CircularPad1d(2),
    )


def test_unfolding_and_shuffling() -> None:
    check(
        "F.unfold(two, 3), F.unfold(two, (3, 2), dilation=2, padding=1, stride=(2, 1))",
        "F.unfold(two[0], 2)",
        "F.fold(F.unfold(two, 3), (9, 8), 3)",
        "F.fold(F.unfold(two, 2, stride=2, padding=1), (9, 8), 2, 1, 1, 2)",
        "F.pixel_shuffle(two, 2), F.pixel_unshuffle(two[..., :8, :], 2), F.channel_shuffle(two, 2)",
        "torch.conv_tbc(one.permute(2, 0, 1).contiguous(), w, torch.zeros(5), 1)",
        w=torch.randn(3, 4, 5),
        two=two,
        one=one,
    )


@pytest.mark.parametrize(
    ("name", "modes"),
    [("one", ("linear",)), ("two", ("bilinear", "bicubic")), ("three", ("trilinear",))],
)
def test_interpolation(name: str, modes: tuple[str, ...]) -> None:
    tensor = {"one": one, "two": two, "three": three}[name]
    sizes = (5, 12, 3)[: tensor.dim() - 2]
    factors = (2.0, 0.6, 1.5)[: tensor.dim() - 2]
    check(
        *[
            f"F.interpolate({name}, {where}, mode='{mode}')"
            for where in (f"size={sizes}", f"scale_factor={factors}")
            for mode in ("nearest", "nearest-exact", *modes)
        ],
        **{name: tensor},
    )
    check(
        *[
            f"F.interpolate({name}, scale_factor=1.7, mode='{mode}', recompute_scale_factor=True)"
            for mode in ("nearest", "nearest-exact", *modes)
        ],
        *[
            f"F.interpolate({name}, {where}, mode='{mode}', align_corners=True)"
            for where in (f"size={sizes}", "scale_factor=1.7")
            for mode in modes
        ],
        how=AS_EXPORTED,
        **{name: tensor},
    )


def test_resampling_of_images() -> None:
    check(
        "F.interpolate(two, size=(5, 4), mode='bilinear', antialias=True)",
        "F.interpolate(two, scale_factor=0.5, mode='bicubic', antialias=True, align_corners=False)",
        "F.interpolate(two, size=(5, 4), mode='area'), F.upsample(two, scale_factor=2)",
        "nearest(two), bilinear(two)",
        *[
            f"F.grid_sample(two, grid, '{mode}', '{padding}', align_corners={corners})"
            for mode in ("bilinear", "nearest", "bicubic")
            for padding in ("zeros", "border", "reflection")
            for corners in (True, False)
        ],
        "F.grid_sample(three, deep, align_corners=False)",
        "F.grid_sample(three, deep, 'nearest', align_corners=True)",
        "F.affine_grid(theta, (2, 3, 4, 5), align_corners=False)",
        "F.affine_grid(theta, (2, 3, 4, 5), align_corners=True)",
        two=two,
        three=three,
        grid=torch.rand(2, 3, 5, 2) * 2.4 - 1.2,
        deep=torch.rand(1, 2, 3, 4, 3) * 2.4 - 1.2,
        theta=torch.randn(2, 2, 3),
        nearest=nn.UpsamplingNearest2d(scale_factor=2),
        bilinear=nn.UpsamplingBilinear2d(size=(4, 5)),
    )
