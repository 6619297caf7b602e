"""Image layers compute what eager does, with a batch and without."""

from pathlib import Path

import ncnn_runs
import pytest
import torch
from ncnn_runs import Calls, check

nn, F = torch.nn, torch.nn.functional

CONVOLUTIONS = {
    "1d": (
        [(2, 6, 12)],
        nn.Conv1d(6, 8, 3, stride=2, padding=2, dilation=2),
        nn.Conv1d(6, 12, 4, padding="same", groups=6, bias=False),
        nn.ConvTranspose1d(6, 8, 3, stride=2, padding=2, output_padding=1, dilation=2),
        nn.ConvTranspose1d(6, 12, 3, groups=6, bias=False),
        nn.ConvTranspose1d(6, 12, 3, groups=2),
    ),
    "2d": (
        [(2, 6, 12, 11)],
        nn.Conv2d(6, 8, (3, 2), stride=2, padding=(2, 1), dilation=2),
        nn.Conv2d(6, 12, 4, padding="same", groups=6, bias=False),
        nn.Conv2d(6, 12, 3, padding="valid", groups=2, stride=(1, 2)),
        nn.Conv2d(6, 12, 3, padding=1, padding_mode="reflect"),
        nn.Conv2d(6, 12, 4, padding="same", groups=2, padding_mode="replicate"),
        nn.ConvTranspose2d(
            6, 8, (3, 2), stride=(2, 1), padding=(2, 1), output_padding=(1, 0), dilation=2
        ),
        nn.ConvTranspose2d(6, 12, 3, groups=6, bias=False),
        nn.ConvTranspose2d(6, 12, 3, groups=2),
    ),
    "3d": (
        [(2, 6, 8, 9, 7)],
        nn.Conv3d(6, 8, (3, 2, 1), stride=2, padding=(2, 1, 0), dilation=2),
        nn.Conv3d(6, 12, 3, padding="same", groups=6, bias=False),
        nn.ConvTranspose3d(
            6, 8, (3, 2, 1), stride=2, padding=(2, 1, 0), output_padding=(1, 0, 1), dilation=2
        ),
        nn.ConvTranspose3d(6, 12, 3, groups=6, bias=False),
        nn.ConvTranspose3d(6, 12, 3, groups=2),
    ),
}
POOLING = {
    "1d": (
        [(2, 6, 13)],
        nn.MaxPool1d(3, 2, 1),
        nn.MaxPool1d(4, 3, 2, ceil_mode=True),
        nn.AvgPool1d(3, 2, 1, ceil_mode=True, count_include_pad=False),
        nn.AvgPool1d(4, 3, 2),
        nn.AvgPool1d(4, 3, 2, ceil_mode=True),
        nn.AdaptiveAvgPool1d(5),
        nn.AdaptiveMaxPool1d(1),
        nn.AdaptiveAvgPool1d(1),
        lambda x: F.adaptive_max_pool1d(x, 4),
    ),
    "2d": (
        [(2, 6, 13, 11)],
        nn.MaxPool2d(3, 2, 1, ceil_mode=True),
        nn.MaxPool2d(3, 3, 1, ceil_mode=True),
        nn.AvgPool2d(3, 2, 1, ceil_mode=True, count_include_pad=False),
        nn.AvgPool2d((4, 3), 3, (2, 1)),
        nn.AvgPool2d((4, 3), 3, (2, 1), ceil_mode=True),
        nn.AvgPool2d(3, 2, 1, divisor_override=5),
        nn.AdaptiveAvgPool2d((5, None)),
        nn.AdaptiveMaxPool2d(1),
        nn.AdaptiveAvgPool2d(1),
        nn.LPPool2d(2, 3, 2),
        lambda x: F.adaptive_max_pool2d(x, (4, 3)),
        lambda x: F.max_pool2d(x, 2),
        lambda x: F.avg_pool2d(x, 3),
    ),
    "3d": (
        [(2, 6, 9, 8, 7)],
        nn.MaxPool3d(3, 2, 1, ceil_mode=True),
        nn.MaxPool3d(2, 3, ceil_mode=True),
        nn.AvgPool3d(3, 2, 1, ceil_mode=True),
        nn.AdaptiveAvgPool3d((5, None, 3)),
        nn.AdaptiveMaxPool3d(1),
        lambda x: F.adaptive_max_pool3d(x, (4, 3, 2)),
    ),
}
NORMS = {
    "rows": ([(2, 6)], nn.BatchNorm1d(6), nn.GroupNorm(3, 6), nn.LayerNorm(6), nn.RMSNorm(6)),
    "1d": (
        [(2, 6, 4)],
        nn.BatchNorm1d(6),
        nn.GroupNorm(3, 6),
        nn.InstanceNorm1d(6),
        nn.InstanceNorm1d(6, affine=True),
        nn.LayerNorm(4),
        nn.LocalResponseNorm(3, alpha=1),
    ),
    "2d": (
        [(2, 6, 4, 5)],
        nn.BatchNorm2d(6, affine=False),
        nn.InstanceNorm2d(6),
        nn.InstanceNorm2d(6, affine=True),
        nn.InstanceNorm2d(6, track_running_stats=True),
        nn.LayerNorm(5),
        nn.LayerNorm((4, 5)),
        nn.LayerNorm((6, 4, 5)),
        nn.LayerNorm((2, 6, 4, 5)),
        nn.LayerNorm(5, bias=False),
        nn.RMSNorm((4, 5)),
        nn.RMSNorm((4, 5), elementwise_affine=False),
        nn.LocalResponseNorm(3, alpha=1),
        nn.LocalResponseNorm(4, alpha=1, k=2, beta=0.5),
        lambda x: F.group_norm(x, 2),
        lambda x: F.layer_norm(x, (5,)),
        lambda x: F.instance_norm(x),
        lambda x: F.rms_norm(x, (5,)),
        lambda x: F.local_response_norm(x, 3, 0.5),
    ),
    "3d": (
        [(2, 6, 4, 3, 5)],
        nn.BatchNorm3d(6),
        nn.GroupNorm(3, 6),
        nn.InstanceNorm3d(6),
        nn.LayerNorm(5),
        nn.LayerNorm((3, 5)),
        nn.LocalResponseNorm(3, alpha=1),
    ),
}
PADDING = {
    "1d": (
        [(2, 6, 5)],
        nn.ReflectionPad1d((1, 2)),
        nn.ReplicationPad1d((1, 2)),
        nn.ConstantPad1d(1, 3.5),
        nn.Conv1d(6, 4, 3, padding=2, padding_mode="circular"),
    ),
    "2d": (
        [(2, 6, 4, 5)],
        nn.ZeroPad2d((1, 2, 3, 1)),
        nn.ReflectionPad2d(1),
        nn.ReplicationPad2d((1, 2, 3, 4)),
        lambda x: F.pad(x, (1, 2)),
        lambda x: F.pad(x, (1, 2, 3, 1), value=2.5),
        lambda x: F.pad(x, (0, 0, 0, 0, 1, 1)),
        lambda x: F.pad(x, (1, 2, 3, 1, 1, 2, 1, 1)),
        lambda x: F.pad(x, (-1, 2, 1, -2), value=2.5),
        lambda x: F.pad(x, (-1, 0, 0, -1, -2, -1)),
        lambda x: F.pad(x, (-1, 2, 1, -2), mode="replicate"),
        lambda x: F.pad(x, (2, 1, 0, 3), mode="circular"),
        nn.Conv2d(6, 4, 3, padding=(1, 2), padding_mode="circular"),
    ),
    "3d": (
        [(2, 6, 3, 4, 5)],
        nn.ReplicationPad3d(1),
        nn.ReflectionPad3d(1),
        nn.ConstantPad3d((1, 2, 3, 1, 2, 1), 3.5),
        nn.Conv3d(6, 4, 3, padding=1, padding_mode="circular"),
    ),
}


def _sizes(mode: str, size: object, **options: object) -> object:
    return lambda x: F.interpolate(x, size=size, mode=mode, **options)


def _scales(mode: str, scale: object, **options: object) -> object:
    return lambda x: F.interpolate(x, scale_factor=scale, mode=mode, **options)


RESIZING = {
    "1d": (
        [(2, 3, 6)],
        _sizes("nearest", 9),
        _sizes("nearest-exact", 18),
        _sizes("linear", 9),
        _sizes("linear", 9, align_corners=True),
        _scales("linear", 1.7),
    ),
    "2d": (
        [(2, 3, 4, 6)],
        _sizes("nearest", (9, 7)),
        _sizes("bilinear", (3, 7)),
        _sizes("bilinear", (9, 4), align_corners=True),
        _sizes("bicubic", (9, 7)),
        _sizes("area", (9, 7)),
        _scales("bicubic", (1.5, 2.5)),
        _scales("bilinear", 1.7),
        _scales("nearest", 0.7),
        _scales("nearest-exact", (2, 3)),
        _sizes("nearest-exact", (12, 6)),
        _scales("bilinear", (1.5, 2.4), recompute_scale_factor=True),
        nn.UpsamplingBilinear2d(scale_factor=2),
        nn.UpsamplingNearest2d(size=(9, 7)),
        nn.Upsample(scale_factor=(2, 1.5), mode="bicubic"),
    ),
    "elements": (
        [(1, 1, 13, 32)],
        *(_scales("nearest", scale) for scale in (1.7, 0.7, 1.3, 3.3, 1.1, 0.6, 5.7)),
        *(_scales("nearest", scale) for scale in ((1.7, 2.9), (0.3, 4.3))),
    ),
    "whole sizes": ([(1, 2, 7, 10)], _scales("bilinear", 31 / 7)),
    "3d": (
        [(2, 3, 3, 4, 6)],
        _scales("nearest", 2),
        _scales("nearest-exact", 2),
        _sizes("trilinear", (4, 5, 6)),
        _sizes("trilinear", (4, 5, 6), align_corners=True),
    ),
    "pixels": (
        [(2, 8, 4, 6)],
        nn.PixelShuffle(2),
        nn.PixelUnshuffle(2),
        nn.ChannelShuffle(4),
        nn.Unfold((2, 3), padding=1, stride=2),
        lambda x: F.unfold(x, 3),
    ),
    "fold": ([(2, 12, 20)], nn.Fold((6, 5), 2), lambda x: F.fold(x, (6, 5), (2, 2))),
}

FAMILIES = {
    f"{family}-{name}": members
    for family, groups in {
        "convolution": CONVOLUTIONS,
        "pooling": POOLING,
        "norm": NORMS,
        "padding": PADDING,
        "resizing": RESIZING,
    }.items()
    for name, members in groups.items()
}


@pytest.mark.parametrize("family", FAMILIES)
def test_like_eager(family: str, tmp_path: Path) -> None:
    shapes, *calls = FAMILIES[family]
    torch.manual_seed(0)
    check(Calls(*calls), *(torch.randn(shape) for shape in shapes), folder=tmp_path)


@pytest.mark.parametrize("count", [2, 3])
def test_grid_sample(count: int, tmp_path: Path) -> None:
    torch.manual_seed(0)
    image = torch.randn(2, 3, *(6, 7, 4)[:count])
    grid = torch.rand(2, *(4, 5, 2)[:count], count) * 2.4 - 1.2
    samples = [
        lambda x, g, m=mode, p=border, a=corners: F.grid_sample(x, g, m, p, a)
        for mode in ("bilinear", "nearest", "bicubic")[: 5 - count]
        for border in ("zeros", "border", "reflection")
        for corners in (True, False)
    ]
    check(Calls(*samples), image, grid, folder=tmp_path)


def test_windows_larger_than_the_image(tmp_path: Path) -> None:
    torch.manual_seed(0)
    pools = [
        nn.AvgPool2d(2, ceil_mode=True),
        nn.MaxPool2d(2, ceil_mode=True),
        nn.MaxPool2d((4, 3), 4, 1, ceil_mode=True),
        nn.AvgPool2d(4, 4, 1, ceil_mode=True),
        nn.AvgPool2d(4, 4, 1, ceil_mode=True, count_include_pad=False),
    ]
    check(Calls(*pools), torch.randn(1, 3, 1, 1), folder=tmp_path)


def test_images_without_a_batch(tmp_path: Path) -> None:
    torch.manual_seed(0)
    net = check(
        Calls(
            nn.Conv2d(6, 8, 3),
            nn.ConvTranspose2d(6, 8, 3),
            nn.MaxPool2d(2),
            nn.AdaptiveAvgPool2d(1),
            nn.InstanceNorm2d(6, affine=True),
            nn.ZeroPad2d(1),
        ),
        torch.randn(6, 12, 11),
        folder=tmp_path,
    )
    assert net.inputs[0].batch is None


def test_convolutions_whose_weights_are_inputs(tmp_path: Path) -> None:
    torch.manual_seed(0)
    shapes = [(2, 6, 12, 11), (8, 6, 3, 3), (8,), (6, 1, 3, 3), (2, 6, 12), (8, 6, 3)]
    check(
        Calls(
            lambda x, w, b, g, y, v: F.conv2d(x, w, b, padding=1),
            lambda x, w, b, g, y, v: F.conv2d(x, w, stride=2),
            lambda x, w, b, g, y, v: F.conv2d(x, g, groups=6),
            lambda x, w, b, g, y, v: F.conv1d(y, v, b),
            lambda x, w, b, g, y, v: F.conv_transpose2d(x, w[:6], stride=2),
            lambda x, w, b, g, y, v: F.conv_transpose2d(x, g, b[:3], groups=3),
            lambda x, w, b, g, y, v: F.conv_transpose1d(y, v[:6], b[:6]),
        ),
        *map(torch.randn, shapes),
        folder=tmp_path,
    )


def test_statistics_of_a_trained_batch_norm(tmp_path: Path) -> None:
    torch.manual_seed(0)
    norm = nn.BatchNorm2d(3)
    norm(torch.randn(4, 3, 5, 5) * 3 + 1)
    nn.init.normal_(norm.weight)
    nn.init.normal_(norm.bias)
    check(ncnn_runs.Calls(norm), torch.randn(2, 3, 4, 5), folder=tmp_path)


def test_normalized_numbers_leave_nothing(tmp_path: Path) -> None:
    biased = nn.LayerNorm((1, 1))
    nn.init.normal_(biased.weight)
    nn.init.normal_(biased.bias)
    norms = biased, nn.LayerNorm(1, bias=False), lambda x: F.layer_norm(x, (1,))
    check(ncnn_runs.Calls(*norms), torch.randn(2, 6, 1, 1), folder=tmp_path)


@pytest.mark.vision
def test_deformable_convolutions(tmp_path: Path) -> None:
    ops = pytest.importorskip("torchvision").ops
    torch.manual_seed(0)
    strided, plain = ops.DeformConv2d(4, 6, 3, stride=2, padding=1), ops.DeformConv2d(4, 6, 3)

    class Both(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.strided, self.plain = strided, plain

        def forward(self, x: object, offset: object, mask: object, other: object) -> object:
            return self.strided(x, offset, mask), self.plain(x, other)

    shapes = [(2, 4, 8, 9), (2, 18, 4, 5), (2, 9, 4, 5), (2, 18, 6, 7)]
    check(Both(), *map(torch.randn, shapes), folder=tmp_path)
