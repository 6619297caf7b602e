"""torchvision's operators and modules, where it is installed; the suites have cases of them too."""

from __future__ import annotations

import pytest
import torch
from equality import check

import suites.testing

ops = pytest.importorskip("torchvision.ops")
pytestmark = pytest.mark.vision

torch.manual_seed(0)
x = torch.randn(1, 4, 8, 8)
regions = torch.tensor([[0, 1.0, 1, 6, 6], [0, 2, 2, 7, 7]])
offset, mask = torch.randn(1, 18, 8, 8), torch.rand(1, 9, 8, 8)


def test_regions() -> None:
    check(
        "align(x, r), pool(x, r), place(x, r), place_pool(x, r), ops.roi_align(x, [r[:, 1:]], 2)",
        "ops.roi_align(x, r, (2, 2), 0.25, -1), ops.roi_pool(x, r, 3)",
        "ops.ps_roi_align(x, r, (2, 2), 1.0), ops.ps_roi_pool(x, r, (2, 2))",
        "ops.nms(r[:, 1:], r[:, 0], 0.5), ops.box_iou(r[:, 1:], r[:, 1:])",
        "ops.batched_nms(r[:, 1:], r[:, 0], r[:, 0].long(), 0.5)",
        x=x,
        r=regions,
        ops=ops,
        align=ops.RoIAlign((2, 3), 0.5, 2, aligned=True),
        pool=ops.RoIPool((2, 2), 0.5),
        place=ops.PSRoIAlign((2, 2), 1.0, -1),
        place_pool=ops.PSRoIPool(2, 0.5),
    )


def test_deformable_convolutions() -> None:
    check(
        "conv(x, offset), conv(x, offset, mask), unbiased(x, offset, mask)",
        "ops.deform_conv2d(x, offset, weight, padding=1)",
        "ops.deform_conv2d(x, offset, weight, weight[:, 0, 0, 0], padding=1, mask=mask)",
        x=x,
        offset=offset,
        mask=mask,
        weight=torch.randn(6, 4, 3, 3),
        ops=ops,
        conv=ops.DeformConv2d(4, 6, 3, padding=1, groups=2),
        unbiased=ops.DeformConv2d(4, 6, 3, padding=1, bias=False),
    )


def test_deformable_convolutions_of_dynamic_sizes() -> None:
    conv = ops.DeformConv2d(4, 6, 3, padding=1)
    size = {2: torch.export.Dim.AUTO}
    assert suites.testing.check(conv, (x, offset, mask), dynamic_shapes=(size, size, size))
