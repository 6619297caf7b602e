"""What a process does once, so that the trials forked from it begin warm."""

from __future__ import annotations

import contextlib
import importlib
import io
import tempfile
import warnings
from importlib.util import find_spec
from pathlib import Path

import torch

import converter

TRIED = ("torchvision", "torchaudio")
"""Generated modules try to import these, and go without where that fails."""


class _Small(torch.nn.Module):
    """A few operators of each kind that torch.export prepares for the first time it meets one."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = torch.nn.Conv2d(1, 2, 1)
        self.norm = torch.nn.BatchNorm2d(2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.relu(self.norm(self.conv(x))).flatten(1) * 2 + 1


def warm() -> None:
    """Import what trials import, and take a small model through both frontends (seconds).

    Leaves torch with one thread: children forked from a parent that has used more hang.
    """
    torch.set_num_threads(1)
    importlib.import_module("suites.execute")
    for package in TRIED:
        with contextlib.suppress(Exception):  # as in the generated modules
            if find_spec(package):
                importlib.import_module(package)
    model, inputs = _Small().eval(), (torch.zeros(1, 1, 4, 4),)
    with (
        torch.no_grad(),
        warnings.catch_warnings(),
        tempfile.TemporaryDirectory() as folder,
        contextlib.suppress(Exception),  # what breaks here breaks in the trials, and is told there
    ):
        warnings.simplefilter("ignore")
        torch.jit.save(torch.jit.trace(model, inputs, check_trace=False), io.BytesIO())
        path = Path(folder, "small.pt2")
        torch.export.save(torch.export.export(model, inputs), path)
        converter.convert(path)
