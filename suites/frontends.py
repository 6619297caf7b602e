"""The two ways to convert: TorchScript with the pnnx program, exported programs with pt2pnnx.

A frontend exports a model beside which the converter then writes its files, named after the case.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import torch

from suites import pnnx_program
from suites.case import Case


class Frontend(Protocol):
    def export(self, model: torch.nn.Module, inputs: tuple[Any, ...], case: Case) -> Path:
        """Save the model in the working directory."""
        ...

    def convert(self, model: Path, case: Case, target: str) -> bool:
        """Write the target's files; whether the conversion changed the order of arithmetic."""
        ...


class TorchScript:
    """torch.jit.trace, then the pnnx program."""

    def export(self, model: torch.nn.Module, inputs: tuple[Any, ...], case: Case) -> Path:
        path = Path(f"{case.name}.pt")
        torch.jit.trace(model, inputs, check_trace=False).save(path)
        return path

    def convert(self, model: Path, case: Case, target: str) -> bool:
        options = [f"{key}={value}" for key, value in case.options.items()]
        files = [model.with_suffix(f".{target}.param"), model.with_suffix(f".{target}.bin")]
        outputs = [*files, Path(generated(case.name, target))]
        pnnx_program.convert(model, ["fp16=0", *options], outputs, case.limit)
        return changed_arithmetic(model.with_suffix(".pnnx.param").read_text())


class ExportedProgram:
    """torch.export, then pt2pnnx, which has no need of torch and runs in this process."""

    def export(self, model: torch.nn.Module, inputs: tuple[Any, ...], case: Case) -> Path:
        path = Path(f"{case.name}.pt2")
        torch.export.save(torch.export.export(model, inputs), path)
        return path

    def convert(self, model: Path, case: Case, target: str) -> bool:
        from converter import convert

        return convert(model, fp16=False, ncnn=target == "ncnn", **case.options).arithmetic_changed


FRONTENDS: Mapping[str, Frontend] = {"ts": TorchScript(), "pt2": ExportedProgram()}


def generated(name: str, target: str) -> str:
    """The file name of the Python module that a converter writes for a target."""
    return f"{name}_{target}.py"


FUSED = (
    ("nn.Conv1d", "convbn1d"),
    ("nn.Conv2d", "convbn2d"),
    ("nn.Conv3d", "convbn3d"),
)
"""Operators that pnnx puts in the place of several others, by type and the start of their name.

A module of the model keeps its own name, so that only what pnnx fused bears these."""


def changed_arithmetic(param: str) -> bool:
    """Whether the text of a `.pnnx.param` has an operator that computes in another order."""
    for line in param.splitlines()[2:]:
        kind, name = line.split(maxsplit=2)[:2]
        if any(kind == fused and name.startswith(f"{stem}_") for fused, stem in FUSED):
            return True
    return False
