"""Small networks as phones run them, exported, converted and run by ncnn beside eager."""

from __future__ import annotations

from typing import Any

import pytest

from suites.testing import check

torch = pytest.importorskip("torch")
pytest.importorskip("ncnn")
nn, F = torch.nn, torch.nn.functional


class Mobile(nn.Module):
    """Convolutions with batch-norms, squeeze and excitation, a linear head."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.BatchNorm2d(8), nn.Hardswish())
        self.depth = nn.Sequential(
            nn.Conv2d(8, 8, 3, 1, 1, groups=8), nn.BatchNorm2d(8), nn.ReLU6()
        )
        self.squeeze, self.excite = nn.Conv2d(8, 2, 1), nn.Conv2d(2, 8, 1)
        self.head = nn.Linear(8, 5)

    def forward(self, x: Any) -> Any:
        x = self.stem(x)
        x = x + self.depth(x)
        x = x * F.hardsigmoid(self.excite(F.relu(self.squeeze(x.mean((2, 3), keepdim=True)))))
        return self.head(x.mean((2, 3))).softmax(-1)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("model", [Mobile, lambda: nn.TransformerEncoderLayer(16, 2, 32)])
def test_networks_of_16_bits(model: Any, dtype: Any) -> None:
    torch.manual_seed(0)
    shape = (1, 3, 32, 24) if model is Mobile else (5, 1, 16)
    assert check(model().to(dtype), (torch.rand(shape).to(dtype),), target="ncnn")
