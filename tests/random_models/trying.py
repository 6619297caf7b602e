"""What comes of a random model: converted and compared, with what PyTorch itself makes of it."""

from __future__ import annotations

import importlib.util
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from compose import RandomModel
from rounding import judged, rounded
from torch.utils import _pytree as pytree

from converter.errors import UsageError
from suites.compare import flat, rule_of
from suites.frontends import generated, import_generated
from suites.testing import NAME, Check, Verdict, check
from suites.trial import DECOMPOSED, Stage

Inputs = Callable[[], Sequence[Any]]
"""Draws what a model is called with: the same each time."""

UNEXPORTED = "torch.export refuses it"
ROUNDING = "all of its results are a matter of rounding"
UNTOLD = (UNEXPORTED, ROUNDING)
"""What tells nothing of a conversion."""


@dataclass(frozen=True)
class Finding:
    """What a check found, and what it comes to: a verdict, or one of UNTOLD."""

    result: Check
    kind: str


def tried(model: RandomModel, target: str, export: str) -> Finding:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made = imported(folder / "model.py", model.source())
        sizes = model.arguments.sizes
        result = check(
            made.Model(),
            made.inputs(),
            others=made.others() if sizes == "dynamic" else None,
            dynamic_shapes=automatic(made) if sizes == "fixed" else None,
            target=target,
            export=export,
            folder=folder,
        )
        if result.stage is Stage.export:
            return Finding(result, UNEXPORTED)
        if isinstance(result.error, UsageError) and not takes(folder, made.others):
            return Finding(result, UNEXPORTED)
        if result.stage is Stage.compare and "values" in result.why and not result.exact:
            calls = [made.inputs, made.others] if sizes == "dynamic" else [made.inputs]
            return by_rounding(result, made, calls, folder, target, export)
        return Finding(result, str(result.verdict))


def imported(path: Path, source: str) -> ModuleType:
    """A model is read from a file, so that what refuses it can tell the line."""
    path.write_text(source)
    spec = importlib.util.spec_from_file_location("random_model", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def automatic(made: ModuleType) -> Any:
    """torch.export's `dynamic_shapes` where the dims of other sizes are dynamic if they can be."""

    def dims(one: torch.Tensor, other: torch.Tensor) -> dict[int, Any]:
        sizes = enumerate(zip(one.shape, other.shape, strict=True))
        return {axis: torch.export.Dim.AUTO for axis, (size, another) in sizes if size != another}

    return pytree.tree_map(dims, made.inputs(), made.others())


def program(folder: Path) -> Callable[..., Any]:
    """What was exported, run by PyTorch."""
    return torch.export.load(folder / f"{NAME}.pt2").module()


def takes(folder: Path, inputs: Inputs) -> bool:
    """Whether the program can be called with these sizes, as PyTorch sees it."""
    try:
        program(folder)(*inputs())
    except (RuntimeError, AssertionError):
        return False
    return True


def by_rounding(
    result: Check, made: ModuleType, calls: Sequence[Inputs], folder: Path, target: str, export: str
) -> Finding:
    """What is left of a mismatch where rounding decides nothing."""
    module = import_generated(folder / generated(NAME, target))
    converted = module.infer if target == "ncnn" else module.Model().eval()
    # PyTorch's decompositions are not always what they decompose.
    model = program(folder) if export == DECOMPOSED else made.Model().eval()
    rule = rule_of(target, arithmetic_changed=True)
    steady = False
    for inputs in calls:
        with torch.no_grad():
            expected = flat(model(*inputs()))
            actual = flat(converted(*pytree.tree_leaves(inputs())))
        for one, other, runs in zip(expected, actual, rounded(model, inputs), strict=True):
            wrong, told = judged(one, other, runs, rule)
            if wrong:
                return Finding(result, str(result.verdict))
            steady |= bool(told)
    return Finding(Check(Verdict.passed), "passed but for rounding" if steady else ROUNDING)
