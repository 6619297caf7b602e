"""Resizing and sampling of torch.nn.functional: interpolation, upsampling, grids.

ncnn resizes lines and planes; blocks are inputs that its target leaves out.
"""

import torch.nn as nn
import torch.nn.functional as F

from suites.case import case


@case(
    inputs=[(1, 3, 32), (1, 3, 32, 24), (1, 3, 8, 10, 12)],
    ncnn_inputs=[(1, 3, 32), (1, 3, 32, 24)],
)
class F_interpolate(nn.Module):
    def forward(self, x, y, z=None):
        flat = (
            F.interpolate(x, size=16),
            F.interpolate(x, scale_factor=2, mode="nearest"),
            F.interpolate(x, size=(20,), mode="linear"),
            F.interpolate(x, scale_factor=1.5, mode="linear", align_corners=True),
            F.interpolate(x, size=8, mode="area"),
            F.interpolate(y, size=16),
            F.interpolate(y, scale_factor=(1.5, 2), mode="nearest"),
            F.interpolate(y, size=(20, 30), mode="bilinear", align_corners=False),
            F.interpolate(y, scale_factor=(2, 1.5), mode="bilinear", align_corners=True),
            F.interpolate(y, scale_factor=0.6, mode="bilinear", recompute_scale_factor=True),
            F.interpolate(y, size=(40, 20), mode="bicubic"),
            F.interpolate(y, scale_factor=2, mode="bicubic", align_corners=True),
            F.interpolate(y, size=(8, 6), mode="area"),
        )
        if z is None:
            return flat
        return (
            *flat,
            F.interpolate(z, size=(6, 15, 18)),
            F.interpolate(z, scale_factor=(2, 1, 1.5), mode="nearest"),
            F.interpolate(z, size=(5, 20, 12), mode="trilinear"),
            F.interpolate(z, scale_factor=1.5, mode="trilinear", align_corners=True),
        )


@case(
    inputs=[(1, 3, 32), (1, 3, 32, 24), (1, 3, 8, 10, 12)],
    ncnn_inputs=[(1, 3, 32), (1, 3, 32, 24)],
)
class F_upsample(nn.Module):
    def forward(self, x, y, z=None):
        flat = (
            F.upsample(x, size=16),
            F.upsample(x, scale_factor=2, mode="nearest"),
            F.upsample(x, size=(20,), mode="linear"),
            F.upsample(x, scale_factor=3, mode="linear", align_corners=True),
            F.upsample(y, size=(16, 40)),
            F.upsample(y, scale_factor=2),
            F.upsample(y, size=(20, 30), mode="bilinear"),
            F.upsample(y, scale_factor=2, mode="bilinear", align_corners=True),
            F.upsample(y, size=(40, 50), mode="bicubic"),
            F.upsample(y, scale_factor=2, mode="bicubic", align_corners=True),
        )
        if z is None:
            return flat
        return (
            *flat,
            F.upsample(z, size=(6, 15, 18)),
            F.upsample(z, scale_factor=2, mode="trilinear"),
            F.upsample(z, size=(5, 20, 12), mode="trilinear", align_corners=True),
        )


@case(inputs=[(1, 12, 24, 32)], targets=("pnnx", "ncnn"))
class F_upsample_bilinear(nn.Module):
    """Corners are aligned, unlike in interpolate."""

    def forward(self, x):
        return (
            F.upsample_bilinear(x, size=(16, 40)),
            F.upsample_bilinear(x, size=20),
            F.upsample_bilinear(x, scale_factor=2),
            F.upsample_bilinear(x, scale_factor=(3, 2)),
        )


@case(inputs=[(1, 12, 24, 32), (1, 4, 5, 6, 7)], ncnn_inputs=[(1, 12, 24, 32)])
class F_upsample_nearest(nn.Module):
    def forward(self, x, y=None):
        flat = (
            F.upsample_nearest(x, size=(16, 40)),
            F.upsample_nearest(x, size=20),
            F.upsample_nearest(x, scale_factor=2),
            F.upsample_nearest(x, scale_factor=3.0),
        )
        if y is None:
            return flat
        return *flat, F.upsample_nearest(y, scale_factor=2)


@case(inputs=[(2, 2, 3), (2, 3, 4)])
class F_affine_grid(nn.Module):
    def forward(self, theta, phi):
        return (
            F.affine_grid(theta, (2, 3, 12, 16), align_corners=True),
            F.affine_grid(theta, (2, 1, 5, 7), align_corners=False),
            F.affine_grid(theta, size=[2, 4, 8, 8]),
            F.affine_grid(phi, (2, 3, 4, 6, 5), align_corners=True),
            F.affine_grid(phi, (2, 1, 5, 2, 3), align_corners=False),
        )


@case(
    inputs=[(1, 3, 12, 16), (1, 21, 27, 2), (1, 3, 5, 6, 7), (1, 8, 9, 10, 3)],
    targets=("pnnx", "ncnn"),
)
class F_grid_sample(nn.Module):
    """Grids reach beyond the image, where the padding mode counts."""

    def forward(self, x, xg, y, yg):
        xg, yg = xg * 3 - 1.5, yg * 3 - 1.5
        planes = [
            F.grid_sample(x, xg, mode=mode, padding_mode=padding, align_corners=align)
            for mode in ("bilinear", "nearest", "bicubic")
            for padding in ("zeros", "border", "reflection")
            for align in (False, True)
        ]
        blocks = [
            F.grid_sample(y, yg, mode=mode, padding_mode=padding, align_corners=align)
            for mode in ("bilinear", "nearest")
            for padding in ("zeros", "border", "reflection")
            for align in (False, True)
        ]
        return F.grid_sample(x, xg), *planes, *blocks
