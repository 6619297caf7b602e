"""Test that a model converts, in its own project's tests: `assert check(model, (x,))`."""

from __future__ import annotations

import contextlib
import copy
import importlib
import inspect
import logging
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

import torch
from torch.export.graph_signature import ConstantArgument, InputKind
from torch.utils import _pytree as pytree

import converter
from converter.errors import ArchiveError, ConvertError, UnsupportedError, UsageError
from suites.case import Tolerance
from suites.compare import Mismatch, Rule, compare, exact, flat, rule_of
from suites.frontends import exported, generated, import_generated
from suites.trial import DECOMPOSED, EXPORTS, PLAIN, TARGETS, Stage

__all__ = ["Check", "Tolerance", "Verdict", "check"]

NAME = "model"
"""What the files of a check are called."""


class Verdict(StrEnum):
    """What a check found. `mismatch`: it was converted, and does not do what the model does."""

    passed = "passed"
    mismatch = "mismatch"
    refused = "refused"


@dataclass(frozen=True)
class Check:
    """What came of a check; true where the model passed, so that it can be asserted.

    `stage` is where it ended, None where it passed. `why` are the words of what refused the model
    (torch.export or the converter), or tell the first output that differs, how far and where.
    `error` is what was raised. `files` is what was written, where a folder was given. `exact`: the
    values had to be the same bits, as nothing took part that rounds otherwise.
    """

    verdict: Verdict
    stage: Stage | None = None
    why: str = ""
    error: Exception | None = None
    files: tuple[Path, ...] = ()
    exact: bool = False

    def __bool__(self) -> bool:
        return self.verdict is Verdict.passed

    def __str__(self) -> str:
        return f"{self.verdict} at {self.stage}: {self.why}" if self.stage else str(self.verdict)

    def __repr__(self) -> str:
        """The same without the folder of a source line: pytest shows 240 characters."""
        where = getattr(self.error, "where", None)
        folder = str(Path(where.file).parent) if where else ""
        return f"<{str(self).replace(f'{folder}/', '', 1) if folder else self}>"


def check(
    module: torch.nn.Module,
    inputs: Sequence[Any],
    kwargs: Mapping[str, Any] | None = None,
    *,
    target: str = "pnnx",
    dynamic_shapes: Any = None,
    others: Sequence[Any] | None = None,
    export: str = PLAIN,
    optlevel: int = 2,
    tolerance: Tolerance | None = None,
    folder: Path | str | None = None,
) -> Check:
    """Export a module, convert it, run what was generated, and compare with the module itself.

    `inputs` and `kwargs` are what `forward` is called with: tensors of any shape and dtype, nested
    or not, and constants; they are not written to. The module runs in eval mode without gradients,
    and its modes and buffers are as they were afterwards.

    `target`: "pnnx" runs the generated PyTorch module, "ncnn" the ncnn runtime in single precision
    (needs the `ncnn` package). `export`: "plain", "strict" (torch.export's `strict=True`) or
    "decomposed" (with `run_decompositions()` after it). `dynamic_shapes` is torch.export's; the
    program is then converted for the shapes of `inputs`. `others` are inputs of other sizes: the
    dims that differ are exported as dynamic, unless `dynamic_shapes` says which are, stay dynamic,
    and the model is compared with both. `optlevel` is the converter's. `tolerance` replaces the
    rules of `suites.compare`: the same bits on pnnx, unless a pass took part that rounds otherwise.
    `folder` keeps the files: `model.pt2` and what the converter writes of it.

    Returns a Check. Raises what the module itself raises when it is called, ImportError where the
    target's package is missing, and ValueError for an unknown target or export.
    """
    for key, value, known in (("target", target, TARGETS), ("export", export, EXPORTS)):
        if value not in known:
            raise ValueError(f"{key}={value!r} is none of {', '.join(known)}")
    if target == "ncnn":
        importlib.import_module("ncnn")
    given = (tuple(inputs), dict(kwargs or {}))
    with contextlib.ExitStack() as stack:
        stack.enter_context(torch.no_grad())
        stack.enter_context(_evaluated(module))
        stack.enter_context(_quiet())
        home = Path(folder or stack.enter_context(tempfile.TemporaryDirectory()))
        home.mkdir(parents=True, exist_ok=True)
        path = home / f"{NAME}.pt2"

        calls = [given] if others is None else [given, (tuple(others), given[1])]
        expected = [_called(module, call) for call in calls]
        if others is not None and dynamic_shapes is None:
            dynamic_shapes = _differing(module, *calls)
        result, rule = Check(Verdict.passed), rule_of(target, True, tolerance)
        try:
            program = _export(module, given, path, export, dynamic_shapes)
            passed = [_passed(call, program) for call in calls]
            shapes = [[one.shape for one in each if _is_tensor(one)] for each in passed]
            changed = _convert(path, target, optlevel, shapes if dynamic_shapes else [])
            # Decompositions round in their own way.
            rule = rule_of(target, changed or export == DECOMPOSED, tolerance)
            for wanted, each in zip(expected, passed, strict=True):
                actual = _infer(home / generated(NAME, target), target, each)
                _compare(wanted, actual, target, rule)
        except _Ended as ended:
            result = ended.result
    files = sorted(home.glob(f"{NAME}[._]*")) if folder else ()
    return replace(result, files=tuple(files), exact=rule is exact)


class _Ended(Exception):  # noqa: N818 (it is a finding, and no error of the program)
    """A check ends with this result."""

    def __init__(self, result: Check) -> None:
        super().__init__(str(result))
        self.result = result


@contextlib.contextmanager
def _ends(verdict: Verdict, stage: Stage, *errors: type[Exception]) -> Iterator[None]:
    """What is raised meanwhile is the result. A package that is missing never is."""
    try:
        yield
    except ImportError:
        raise
    except errors as error:
        plain = isinstance(error, ConvertError | Mismatch)
        why = str(error) if plain else f"{type(error).__name__}: {error}"
        raise _Ended(Check(verdict, stage, why, error)) from error


Call = tuple[tuple[Any, ...], dict[str, Any]]
"""What a module is called with."""


def _called(module: torch.nn.Module, call: Call) -> Any:
    arguments, keywords = copy.deepcopy(call)
    return module(*arguments, **keywords)


def _differing(module: torch.nn.Module, one: Call, other: Call) -> dict[str, Any]:
    """torch.export's `dynamic_shapes` of arguments with other sizes, by the names of forward's."""

    def dims(leaf: Any, other: Any) -> dict[int, Any] | None:
        if not isinstance(leaf, torch.Tensor):
            return None
        sizes = zip(leaf.shape, other.shape, strict=True)
        differ = [axis for axis, (size, another) in enumerate(sizes) if size != another]
        return dict.fromkeys(differ, torch.export.Dim.DYNAMIC)

    signature = inspect.signature(module.forward)
    bound = [dict(signature.bind(*call[0], **call[1]).arguments) for call in (one, other)]
    differing: dict[str, Any] = pytree.tree_map(dims, *bound)
    return differing


def _passed(call: Call, program: torch.export.ExportedProgram) -> list[Any]:
    """What the converted model is called with: tensors and dynamic ints, in the program's order.

    The leaves that the export took for constants are no inputs.
    """
    specs = program.graph_signature.input_specs
    inputs = [spec.arg for spec in specs if spec.kind is InputKind.USER_INPUT]
    keywords = {name: call[1][name] for name in program.example_inputs[1]}
    leaves = pytree.tree_leaves((call[0], keywords))
    return [
        copy.deepcopy(leaf)
        for leaf, given in zip(leaves, inputs, strict=True)
        if not isinstance(given, ConstantArgument)
    ]


def _is_tensor(given: Any) -> bool:
    return isinstance(given, torch.Tensor)


@_ends(Verdict.refused, Stage.export, Exception)  # torch refuses with errors of every type
def _export(
    module: torch.nn.Module, given: Call, path: Path, export: str, dynamic_shapes: Any
) -> torch.export.ExportedProgram:
    """Save the exported program, and return it."""
    arguments, keywords = copy.deepcopy(given)
    program = exported(module, arguments, keywords, export=export, dynamic_shapes=dynamic_shapes)
    torch.export.save(program, path)
    return program


# An UnforeseenError is a defect of the converter here: nobody edited the program.
@_ends(Verdict.refused, Stage.convert, ArchiveError, UnsupportedError, UsageError)
def _convert(path: Path, target: str, optlevel: int, shapes: list[Any]) -> bool:
    """Write the target's files; whether this changed the order of floating-point operations."""
    options = dict(zip(("inputshape", "inputshape2"), shapes, strict=False))
    converted = converter.convert(
        path, fp16=False, optlevel=optlevel, ncnn=target == "ncnn", **options
    )
    if converted.ncnn_refusal is not None:
        raise converted.ncnn_refusal
    return converted.arithmetic_changed


@_ends(Verdict.mismatch, Stage.infer, Exception)  # generated code that fails is a finding
def _infer(path: Path, target: str, inputs: list[Any]) -> Any:
    """Run what was generated for a target."""
    module = import_generated(path)
    run = module.infer if target == "ncnn" else module.Model().eval()
    return run(*inputs)


@_ends(Verdict.mismatch, Stage.compare, Mismatch)
def _compare(expected: Any, actual: Any, target: str, rule: Rule) -> None:
    if target == "ncnn":
        expected, actual = flat(expected), flat(actual)
    compare(expected, actual, rule)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """No warnings, and none of the trace that torch.export writes for whoever listens (pytest)."""
    trace = logging.getLogger("torch.__trace")
    level = trace.level
    trace.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        trace.setLevel(level)


@contextlib.contextmanager
def _evaluated(module: torch.nn.Module) -> Iterator[None]:
    """A module in eval mode; afterwards its modes and buffers are as they were."""
    modes = {one: one.training for one in module.modules()}
    buffers = [(buffer, buffer.clone()) for buffer in module.buffers()]
    module.eval()
    try:
        yield
    finally:
        for one, training in modes.items():
            one.training = training
        for buffer, value in buffers:
            buffer.copy_(value)
