"""Normalizations of torch.nn.functional.

What ncnn lacks comes last, with an input that the ncnn target leaves out.
"""

import torch
import torch.nn as nn
import torch.nn.functional as F

from suites.case import case


def values(*shape):
    return nn.Parameter(torch.rand(shape))


@case(inputs=[(1, 16), (1, 2, 16), (1, 3, 12, 16), (1, 5, 4, 7, 9)], targets=("pnnx", "ncnn"))
class F_batch_norm(nn.Module):
    """In eval mode: with and without an affine part, of other epsilons."""

    def __init__(self):
        super().__init__()
        for rank, channels in ((2, 16), (3, 2), (4, 3), (5, 5)):
            # Not what the inputs begin with, which the same seed draws: their difference is noise.
            self.register_buffer(f"mean{rank}", torch.rand(channels) / 2)
            self.register_buffer(f"var{rank}", torch.rand(channels))
            setattr(self, f"weight{rank}", values(channels))
            setattr(self, f"bias{rank}", values(channels))

    def forward(self, x, y, z, w):
        return (
            F.batch_norm(x, self.mean2, self.var2, self.weight2, self.bias2),
            F.batch_norm(x, self.mean2, self.var2, None, None, eps=1e-4),
            F.batch_norm(y, self.mean3, self.var3, self.weight3, self.bias3, eps=1e-3),
            F.batch_norm(y, self.mean3, self.var3, eps=1e-2),
            F.batch_norm(z, self.mean4, self.var4, self.weight4, self.bias4, False, 0.3, 1e-2),
            F.batch_norm(z, self.mean4, self.var4, training=self.training),
            F.batch_norm(w, self.mean5, self.var5, self.weight5, self.bias5, eps=1e-2),
            F.batch_norm(w, self.mean5, self.var5),
        )


@case(
    inputs=[(1, 16), (1, 6, 16), (1, 6, 12, 16), (1, 12, 4, 7, 9), (12, 6, 5)],
    ncnn_inputs=[(1, 16), (1, 6, 16), (1, 6, 12, 16), (1, 12, 4, 7, 9)],
)
class F_group_norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight16, self.bias16 = values(16), values(16)
        self.weight6, self.bias6 = values(6), values(6)
        self.weight12, self.bias12 = values(12), values(12)

    def forward(self, x, y, z, w, v=None):
        results = (
            F.group_norm(x, 2, self.weight16, self.bias16),
            F.group_norm(y, 3, self.weight6, self.bias6, eps=1e-3),
            F.group_norm(z, 2, self.weight6, self.bias6, eps=1e-2),
            F.group_norm(w, 4, self.weight12, self.bias12),
        )
        if v is None:
            return results
        return (
            *results,
            F.group_norm(x, 1, None, None),
            F.group_norm(z, num_groups=6),
            F.group_norm(v, 2, self.weight6, self.bias6),
        )


@case(
    inputs=[(1, 6, 12, 16), (1, 12, 4, 7, 9), (12, 8, 16)],
    ncnn_inputs=[(1, 6, 12, 16), (1, 12, 4, 7, 9)],
)
class F_instance_norm(nn.Module):
    """Statistics of the input itself, and running ones."""

    def __init__(self):
        super().__init__()
        self.weight8, self.bias8 = values(8), values(8)
        self.weight6, self.bias6 = values(6), values(6)
        self.weight12, self.bias12 = values(12), values(12)

    def forward(self, x, y, z=None):
        results = (
            F.instance_norm(x, weight=self.weight6, bias=self.bias6, eps=1e-2),
            F.instance_norm(x, eps=1e-3),
            F.instance_norm(y, weight=self.weight12, bias=self.bias12, eps=1e-4),
            F.instance_norm(y),
        )
        if z is None:
            return results
        return (
            *results,
            F.instance_norm(z),
            F.instance_norm(z, None, None, self.weight8, self.bias8),
        )


@case(
    inputs=[(1, 24), (12, 24, 64), (1, 12, 24, 64), (1, 3, 5, 7, 8)],
    ncnn_inputs=[(1, 24), (12, 24, 64), (1, 12, 24, 64)],
)
class F_layer_norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight24, self.bias24 = values(24), values(24)
        self.weight64, self.bias64 = values(64), values(64)
        self.weight_plane, self.bias_plane = values(24, 64), values(24, 64)
        self.weight_block, self.bias_block = values(5, 7, 8), values(5, 7, 8)

    def forward(self, x, y, z, w=None):
        results = (
            F.layer_norm(x, (24,), self.weight24, self.bias24),
            F.layer_norm(x, (24,), None, None),
            F.layer_norm(y, (64,), self.weight64, self.bias64, eps=1e-2),
            F.layer_norm(z, normalized_shape=(64,), eps=1e-3),
            F.layer_norm(z, (24, 64), self.weight_plane, self.bias_plane, 1e-3),
        )
        if w is None:
            return results
        return (
            *results,
            F.layer_norm(y, (24, 64), self.weight_plane, self.bias_plane),
            F.layer_norm(w, (5, 7, 8), self.weight_block, self.bias_block),
        )


@case(
    inputs=[(1, 24), (12, 24, 64), (1, 12, 24, 64), (24, 64)],
    ncnn_inputs=[(1, 24), (12, 24, 64), (1, 12, 24, 64)],
)
class F_rms_norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight24 = values(24)
        self.weight64 = values(64)
        self.weight_plane = values(24, 64)

    def forward(self, x, y, z, w=None):
        results = (
            F.rms_norm(x, (24,), self.weight24),
            F.rms_norm(x, (24,), eps=1e-5),
            F.rms_norm(y, (64,), self.weight64, eps=1e-2),
            F.rms_norm(z, normalized_shape=(64,), weight=None, eps=1e-3),
            F.rms_norm(z, (24, 64), self.weight_plane, 1e-3),
        )
        if w is None:
            return results
        return (
            *results,
            F.rms_norm(y, (24, 64), self.weight_plane),
            F.rms_norm(w, (24, 64), self.weight_plane),
        )


@case(
    inputs=[(3, 12, 16), (1, 12, 16, 20), (1, 8, 5, 6, 7)],
    ncnn_inputs=[(3, 12, 16), (1, 12, 16, 20)],
)
class F_local_response_norm(nn.Module):
    def forward(self, x, y, z=None):
        results = (
            F.local_response_norm(x, 3),
            F.local_response_norm(x, size=5, alpha=0.001, beta=0.8, k=0.9),
            F.local_response_norm(y, 5),
            F.local_response_norm(y, size=4, alpha=0.01, beta=0.5),
        )
        if z is None:
            return results
        return *results, F.local_response_norm(z, 3, k=2.0)


@case(
    inputs=[(3, 12, 16), (12, 24), (1, 12, 16, 20), (1, 4, 5, 6, 7)],
    ncnn_inputs=[(3, 12, 16)],
)
class F_normalize(nn.Module):
    def forward(self, x, y=None, z=None, w=None):
        results = F.normalize(x, dim=0), F.normalize(x, p=2, dim=0, eps=1e-3)
        if y is None:
            return results
        return (
            *results,
            F.normalize(x, dim=-1),
            F.normalize(x, p=1.0, dim=1),
            F.normalize(y),
            F.normalize(z, p=2.0, dim=1, eps=1e-6),
            F.normalize(z, dim=2),
            F.normalize(w, p=2, dim=-3),
        )
