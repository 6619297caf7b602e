"""Deformable convolutions and the pooling of regions, which torchvision adds."""

import torch
import torch.nn as nn
from torchvision.ops import DeformConv2d, RoIAlign

from suites.case import case


@case(
    inputs=[(1, 12, 20, 18), (1, 12, 7, 20), (2, 12, 9, 10), (2, 36, 5, 10), (2, 18, 5, 10)],
    ncnn_inputs=[(1, 12, 20, 18), (1, 12, 7, 20)],
    needs=("torchvision",),
)
class torchvision_DeformConv2d(nn.Module):
    """With a mask and without, with a bias and without; strided, dilated; channels and offsets in
    groups, which ncnn does not have. Offsets and masks come from convolutions, or are inputs.
    """

    def __init__(self):
        super().__init__()
        self.shift0 = nn.Conv2d(12, 18, 3, padding=1)
        self.mask0 = nn.Conv2d(12, 9, 1)
        self.plain = DeformConv2d(12, 16, 3, padding=1)
        self.masked = DeformConv2d(16, 8, kernel_size=3, padding=1, bias=False)
        self.shift1 = nn.Conv2d(8, 6, (1, 3), stride=(3, 1), padding=(0, 1))
        self.strided = DeformConv2d(8, 12, (1, 3), stride=(3, 1), padding=(0, 1), bias=False)
        self.shift2 = nn.Conv2d(12, 6, 1, bias=False)
        self.dilated = DeformConv2d(12, 6, (3, 1), stride=1, padding=(2, 0), dilation=(2, 1))
        self.grouped = DeformConv2d(12, 8, 3, stride=(2, 1), padding=1, groups=4)

    def forward(self, x, y, z=None, shift=None, mask=None):
        shift0 = self.shift0(x) * 4
        x = self.masked(self.plain(x, shift0), shift0, torch.sigmoid(self.mask0(x)))
        x = self.strided(x, self.shift1(x))
        y = self.dilated(y, self.shift2(y) * 4)
        if z is None:
            return x, y
        return x, y, self.grouped(z, shift * 3, mask), self.grouped(z, shift[:, :18])


@case(inputs=[(2, 8, 20, 24), (5, 4), (1, 8, 13, 9)], needs=("torchvision",))
class torchvision_RoIAlign(nn.Module):
    """Regions that begin with the number of their image, in one tensor."""

    def __init__(self):
        super().__init__()
        self.plain = RoIAlign((3, 4), spatial_scale=1.0, sampling_ratio=2)
        self.scaled = RoIAlign(output_size=5, spatial_scale=0.25, sampling_ratio=-1)
        self.aligned = RoIAlign((2, 6), 0.5, 3, aligned=True)
        self.any = RoIAlign((7, 2), 0.5, 0, True)
        self.register_buffer("images", torch.tensor([[0.0], [1], [1], [0], [1]]))

    def forward(self, x, drawn, y):
        corner, size = drawn[:, :2] * 9, drawn[:, 2:] * 12
        boxes = torch.cat((self.images, corner, corner + size), dim=1)
        return (
            self.plain(x, boxes),
            self.scaled(x, boxes),
            self.aligned(x, boxes),
            self.any(y, boxes * torch.tensor([0, 0.5, 1, 0.5, 1])),
        )
