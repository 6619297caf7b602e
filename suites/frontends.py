"""The two ways to convert: TorchScript with the pnnx program, exported programs with pt2pnnx.

A frontend exports a model; the converter then writes its files beside it, named after the case.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import torch

from suites import pnnx_program
from suites.case import Case


class Frontend(Protocol):
    """One trial's way through a converter, in the working directory."""

    def __init__(self, case: Case) -> None: ...

    def export(self, model: torch.nn.Module, inputs: tuple[Any, ...]) -> None:
        """Save the model as the file that the converter reads."""
        ...

    def convert(self, target: str) -> bool:
        """Write the target's files; whether this changed the order of floating-point operations."""
        ...


class TorchScript:
    """torch.jit.trace, then the pnnx program."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._model = Path(f"{case.name}.pt")
        self._traced: Counter[str] = Counter()

    def export(self, model: torch.nn.Module, inputs: tuple[Any, ...]) -> None:
        traced = torch.jit.trace(model, inputs, check_trace=False)
        traced.save(self._model)
        self._traced = Counter(node.kind() for node in traced.inlined_graph.nodes())

    def convert(self, target: str) -> bool:
        options = [f"{key}={value}" for key, value in self._case.options.items()]
        outputs = [
            self._model.with_suffix(f".{target}.param"),
            self._model.with_suffix(f".{target}.bin"),
            generated(self._case.name, target),
        ]
        pnnx_program.convert(self._model, ["fp16=0", *options], outputs, self._case.limit)
        return fused(self._traced, self._model.with_suffix(".pnnx.param").read_text())


class ExportedProgram:
    """torch.export, then pt2pnnx, which needs no torch and runs in this process."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._model = Path(f"{case.name}.pt2")

    def export(self, model: torch.nn.Module, inputs: tuple[Any, ...]) -> None:
        torch.export.save(torch.export.export(model, inputs), self._model)

    def convert(self, target: str) -> bool:
        from converter import convert

        converted = convert(self._model, fp16=False, ncnn=target == "ncnn", **self._case.options)
        if converted.ncnn_refusal is not None:
            raise converted.ncnn_refusal
        return converted.arithmetic_changed


FRONTENDS: Mapping[str, type[Frontend]] = {"ts": TorchScript, "pt2": ExportedProgram}


def generated(name: str, target: str) -> Path:
    """The Python module that a converter writes for a target."""
    return Path(f"{name}_{target}.py")


FOLDED = {
    "aten::_weight_norm": (),
    "aten::batch_norm": ("F.batch_norm", "nn.BatchNorm1d", "nn.BatchNorm2d", "nn.BatchNorm3d"),
}
"""Operators that pnnx computes into the weights of others, and what it calls those that stay."""

FUSED = {
    "F.hardsigmoid": "aten::hardsigmoid",
    "F.hardswish": "aten::hardswish",
    "F.scaled_dot_product_attention": "aten::scaled_dot_product_attention",
}
"""What pnnx puts in the place of several operators that compute the same, and what it is when the
model itself calls it."""


def fused(traced: Mapping[str, int], param: str) -> bool:
    """Whether pnnx, which does not tell, computes in another order than the model.

    Either the `.pnnx.param` has fewer of an operator than the traced graph, so that some were
    folded into weights; or it has more of one, which stand for the several that they replace.
    """
    kinds = Counter(line.split(maxsplit=1)[0] for line in param.splitlines()[2:])
    return any(
        sum(kinds[kind] for kind in kept) < traced.get(folded, 0) for folded, kept in FOLDED.items()
    ) or any(kinds[kind] > traced.get(single, 0) for kind, single in FUSED.items())
