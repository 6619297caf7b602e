"""What changes nothing and goes, among what looks alike and stays."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from suites.case import case


@case(inputs=[(1, 3, 4), (2, 5)])
class pnnx_eliminate_noop_cat(nn.Module):
    """A list of one tensor; nested, as an output, and beside joins of several."""

    def forward(self, x, y):
        x = F.gelu(torch.cat([x], 1))
        x = F.relu(torch.cat((x,), dim=-1))
        x = torch.tanh(torch.concat([torch.cat([x], 0)], dim=2))
        z = torch.cat([torch.cat([y]), torch.cat([y], -1)])
        return x, torch.cat([y * 2]), z, torch.cat([x, torch.cat([x], -2)], dim=-3)


@case(inputs=[(1, 3, 4), (2, 3, 4), (3, 1), (4,)])
class pnnx_eliminate_noop_expand(nn.Module):
    """To the same shape, and what element-wise arithmetic spreads by itself."""

    def forward(self, x, y, z, w):
        same = (
            F.relu(x.expand(1, 3, 4)),
            F.gelu(x.expand(-1, -1, -1)),
            torch.tanh(y.expand_as(y)),
            F.silu(y.expand(2, -1, y.size(2))),
        )
        spread = (
            x.expand(2, 3, 4) + y,
            y - x.mean(-1, keepdim=True).expand_as(y),
            torch.sqrt(x[:, :1].expand(2, 3, -1)) * y,
            x.expand(2, -1, -1) * y[:, :, :1],
            y / torch.norm(y, dim=1, keepdim=True).expand_as(y),
        )
        expanded = x.expand(2, 3, 4)
        return (
            *same,
            *spread,
            expanded * 3,
            expanded - z,
            F.relu(x.expand(3, 3, 4)),
            z.expand(3, 4) * w,
            w.expand(2, 3, 4) * y,
            torch.cat([x.expand(2, 3, 4), y], 1),
            y.sum().expand(2, 3) * 2,
        )


@case(inputs=[(1, 3, 4), (2, 5)])
class pnnx_eliminate_noop_math(nn.Module):
    """Neutral numbers and tensors full of them, on either side; the others stay."""

    def forward(self, x, y):
        x = F.relu(x + 0)
        x = F.gelu(0 + x) - 0
        x = torch.tanh(x * 1)
        x = F.silu(1 * (x / 1.0)) ** 1
        x = F.elu(torch.pow(torch.add(x, 0, alpha=3), 1.0))
        x = F.mish(torch.div(torch.sub(x, 0.0).mul(1), 1))
        y = F.relu(y + torch.zeros(2, 5))
        y = F.gelu(torch.ones(5) * y)
        y = F.silu(y / torch.ones(2, 1) - torch.zeros(1))
        return (
            x,
            y,
            (x + 0) * (y[:, :1].sum() * 1),
            F.relu(0 - x),
            F.relu(1 / (x + 1)),
            F.relu(1**x),
            F.relu(x * 0),
            torch.ones(3, 2, 5) * y,
            torch.tensor([0.0, 1.0]).reshape(2, 1) + y,
            x - 0 * x,
        )


@case(inputs=[(1, 3, 4), (1, 3, 5, 6), (1, 2, 4, 5, 6)])
class pnnx_eliminate_noop_upsample(nn.Module):
    """By 1, or to the size that it has; by 1 in one dim only stays."""

    def __init__(self):
        super().__init__()
        self.up_0 = nn.Upsample(scale_factor=1)
        self.up_1 = nn.Upsample(size=(5, 6), mode="bilinear")
        self.up_2 = nn.Upsample(scale_factor=(1.0, 1.0), mode="bicubic", align_corners=True)
        self.up_3 = nn.UpsamplingNearest2d(size=(5, 6))
        self.up_4 = nn.UpsamplingBilinear2d(scale_factor=1)
        self.up_5 = nn.Upsample(scale_factor=(2, 1))

    def forward(self, x, y, z):
        x = F.relu(F.interpolate(x, scale_factor=1))
        x = F.gelu(F.interpolate(x, size=4))
        x = F.silu(F.interpolate(x, scale_factor=1.0, mode="linear", align_corners=True))
        y = F.relu(F.interpolate(y, size=(5, 6)))
        y = F.gelu(F.interpolate(y, size=y.shape[-2:], mode="bilinear", align_corners=False))
        y = F.silu(F.interpolate(y, scale_factor=(1, 1), mode="bicubic"))
        y = F.relu(F.interpolate(y, size=(5, 6), mode="nearest-exact"))
        y = F.tanhshrink(F.upsample(y, scale_factor=1, mode="bilinear"))
        y = F.relu(F.upsample_nearest(y, size=(5, 6)))
        y = F.gelu(F.upsample_bilinear(y, scale_factor=1))
        z = F.relu(F.interpolate(z, scale_factor=(1, 1, 1), mode="trilinear"))
        z = F.gelu(F.interpolate(z, size=(4, 5, 6), mode="nearest"))
        y = F.relu(self.up_1(F.silu(self.up_0(y))))
        y = F.gelu(self.up_3(F.relu(self.up_2(y))))
        y = F.silu(self.up_4(y))
        return x, y, z, self.up_5(y), F.interpolate(y, scale_factor=(1, 3), mode="bilinear")
