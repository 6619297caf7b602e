"""Save the benchmark's models in both forms: `NAME.pt` for pnnx, `NAME.pt2` for pt2pnnx.

Runs in a cell's Python, which has torch: `python models.py FOLDER NAME...`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from torch import nn


def linears() -> nn.Module:
    """Sixteen 4096×4096 linears: 1 GiB of weights."""
    return nn.Sequential(*[nn.Linear(4096, 4096) for _ in range(16)])


def build(name: str) -> tuple[nn.Module, torch.Tensor]:
    torch.manual_seed(0)
    if name == "linears":
        return linears().eval(), torch.rand(1, 4096)
    import torchvision

    return torchvision.models.get_model(name, weights=None).eval(), torch.rand(1, 3, 224, 224)


def save(name: str, folder: Path) -> None:
    model, x = build(name)
    with torch.no_grad():
        torch.jit.trace(model, x).save(folder / f"{name}.pt")
        torch.export.save(torch.export.export(model, (x,)), folder / f"{name}.pt2")


if __name__ == "__main__":
    for name in sys.argv[2:]:
        save(name, Path(sys.argv[1]))
