"""Normalizations: by stored and by computed statistics, with and without weights."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from equality import check, refusal
from torch import nn

torch.manual_seed(0)
line = torch.randn(4, 6)
signal = torch.randn(2, 6, 5)
image = torch.randn(2, 6, 4, 5)
volume = torch.randn(2, 6, 2, 3, 4)
weight, bias, mean = torch.rand(6), torch.randn(6), torch.randn(6)
variance = torch.rand(6) + 0.5


def trained(module: nn.Module) -> nn.Module:
    """Give a module's parameters and buffers values that are not their defaults."""
    for tensor in [*module.parameters(), *module.buffers()]:
        if tensor.is_floating_point():
            tensor.data.uniform_(0.5, 1.5)
    return module.eval()


def test_batch_norm() -> None:
    check(
        *[f"F.batch_norm({x}, mean, variance)" for x in ("line", "signal", "image", "volume")],
        "F.batch_norm(image, mean, variance, weight, bias, eps=1e-3)",
        "F.batch_norm(line, mean, variance, weight)",
        "F.batch_norm(image, mean, variance, None, bias, momentum=0.3), one(line), one(signal)",
        "two(image)",
        "three(volume), plain(image)",
        "F.batch_norm(image.double(), mean.double(), variance.double())",
        "F.batch_norm(image, None, None, weight, bias, training=True), untracked(image)",
        line=line,
        signal=signal,
        image=image,
        volume=volume,
        mean=mean,
        variance=variance,
        weight=weight,
        bias=bias,
        one=trained(nn.BatchNorm1d(6)),
        two=trained(nn.BatchNorm2d(6, eps=1e-3)),
        three=trained(nn.BatchNorm3d(6)),
        plain=trained(nn.BatchNorm2d(6, affine=False)),
        untracked=trained(nn.BatchNorm2d(6, track_running_stats=False)),
    )


def test_batch_norm_in_training_is_refused() -> None:
    expression = "F.batch_norm(image, mean + 0, variance + 0, training=True)"
    why = refusal(expression, image=image, mean=mean, variance=variance)
    assert "training mode" in why


def test_instance_norm() -> None:
    check(
        "F.instance_norm(signal), F.instance_norm(image, weight=weight, bias=bias, eps=1e-3)",
        "F.instance_norm(volume), F.instance_norm(image, mean, variance, use_input_stats=False)",
        "F.instance_norm(image, mean, variance, weight, bias, use_input_stats=False)",
        "one(signal), one(signal[0]), two(image), three(volume), tracked(image), affine(image)",
        signal=signal,
        image=image,
        volume=volume,
        mean=mean,
        variance=variance,
        weight=weight,
        bias=bias,
        one=trained(nn.InstanceNorm1d(6)),
        two=trained(nn.InstanceNorm2d(6)),
        three=trained(nn.InstanceNorm3d(6, affine=True)),
        tracked=trained(nn.InstanceNorm2d(6, track_running_stats=True, affine=True)),
        affine=trained(nn.InstanceNorm2d(6, affine=True, eps=1e-2)),
    )


STATISTICS = {"image": image, "mean": mean, "variance": variance}


class Updating(nn.Module):
    """An instance norm of the function, which updates the statistics that it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", mean.clone())
        self.register_buffer("variance", variance.clone())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        first = F.instance_norm(x, self.mean, self.variance, weight, bias, eps=1e-2)
        return first + F.instance_norm(x, self.mean, self.variance)


def test_an_instance_norm_updates_statistics_that_it_does_not_read() -> None:
    check("norm(image), norm(image[:1])", image=image, norm=Updating())
    affine = {"weight": weight, "bias": bias}
    check("F.instance_norm(image, mean, variance, weight, bias)", **STATISTICS, **affine)
    check("mean * 2, F.instance_norm(image, mean, variance)", **STATISTICS)
    check("F.instance_norm(image, mean.clone(), variance.clone()) + mean.sum()", **STATISTICS)


@pytest.mark.parametrize("after", ["mean * 2", "mean[1:].sum()", "F.batch_norm(image, mean, mean)"])
def test_updated_statistics_are_not_read(after: str) -> None:
    why = refusal(f"F.instance_norm(image, mean, variance), {after}", **STATISTICS)
    assert "a normalization updated before" in why
    assert "clone()" in why


def test_updated_statistics_of_the_model_are_not_read() -> None:
    why = refusal("norm.mean.sum() + norm(image)", image=image, norm=Updating())
    assert "which the model changes" in why


def test_layer_group_and_rms_norm() -> None:
    check(
        "F.layer_norm(signal, (5,)), F.layer_norm(signal, (6, 5))",
        "F.layer_norm(line, (6,), weight, bias)",
        "F.layer_norm(line, (6,), weight), F.layer_norm(line, (6,), None, bias, 1e-3)",
        "layers(line), bare(signal)",
        "F.layer_norm(line.half(), (6,), weight.half(), bias.half())",
        "F.layer_norm(line.double(), (6,))",
        "F.group_norm(signal, 3), F.group_norm(image, 2, weight, bias, 1e-3)",
        "F.group_norm(line, 6, weight)",
        "F.group_norm(volume, 1, None, bias), groups(image), plain(signal)",
        "F.rms_norm(line, (6,)), F.rms_norm(line, (6,), weight)",
        "F.rms_norm(signal, (6, 5), eps=1e-3)",
        "roots(line), rootless(signal), F.rms_norm(line.half(), (6,), weight.half(), 1e-6)",
        line=line,
        signal=signal,
        image=image,
        volume=volume,
        weight=weight,
        bias=bias,
        layers=trained(nn.LayerNorm(6)),
        bare=trained(nn.LayerNorm((6, 5), elementwise_affine=False, eps=1e-3)),
        groups=trained(nn.GroupNorm(3, 6)),
        plain=trained(nn.GroupNorm(2, 6, affine=False)),
        roots=trained(nn.RMSNorm(6)),
        rootless=trained(nn.RMSNorm(5, elementwise_affine=False, eps=1e-2)),
    )


def test_distances() -> None:
    check(
        "F.normalize(signal), F.normalize(signal, p=1, dim=-1)",
        "F.normalize(image, dim=(1, 2), eps=1e-3)",
        "F.local_response_norm(signal, 3), F.local_response_norm(image, 2, 1e-2, 0.5, 2.0)",
        "F.local_response_norm(volume, 5), F.cosine_similarity(line, line.flip(0))",
        "F.cosine_similarity(signal, signal.flip(0), dim=-1, eps=1e-3)",
        "F.pairwise_distance(line, line.flip(1))",
        "F.pairwise_distance(line, line.flip(1), p=1.0, eps=1e-3, keepdim=True)",
        "torch.cdist(signal, signal.flip(0)), torch.cdist(line, line.flip(0), p=1)",
        "torch.cdist(line, line, compute_mode='donot_use_mm_for_euclid_dist'), F.pdist(line)",
        "F.pdist(line, 1)",
        "torch.cdist(line, line, p=2, compute_mode='use_mm_for_euclid_dist')",
        "torch.cdist(line, line, p=float('inf'))",
        line=line,
        signal=signal,
        image=image,
        volume=volume,
    )


@pytest.mark.parametrize(
    "norm", [nn.BatchNorm2d(6), nn.InstanceNorm2d(6, track_running_stats=True)]
)
def test_modules_in_training_are_refused(norm: nn.Module) -> None:
    exported = "[norm.train(), norm(image)][1]"
    assert "cannot convert" in refusal(exported, image=image, norm=norm)
