"""The two ways to convert: TorchScript with the pnnx program, exported programs with pt2pnnx.

A frontend exports a model; the converter then writes its files beside it, named after the case.
"""

from __future__ import annotations

import importlib.util
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, Protocol

import numpy
import torch

from converter.ir import DTYPE_NAMES
from suites import pnnx_program
from suites.case import Case, Input
from suites.inputs import save, second_inputs
from suites.pnnx_fusions import changed_arithmetic
from suites.pnnx_program import PnnxError
from suites.trial import DECOMPOSED, PLAIN, STRICT


class Conversion(NamedTuple):
    """What came of a model's conversion.

    `arithmetic_changed`: in another order of floating-point operations than the model has.
    `refusals`: why a target has no files, where the others do.
    """

    arithmetic_changed: bool
    refusals: Mapping[str, Exception] = {}


class Frontend(Protocol):
    """One trial's way through a converter, in the working directory."""

    def __init__(self, case: Case) -> None: ...

    def export(self, model: torch.nn.Module, inputs: tuple[Any, ...]) -> None:
        """Save the model as the file that the converter reads."""
        ...

    def convert(self, targets: Sequence[str]) -> Conversion:
        """Write the files of these targets at once. Raises what stops all of them."""
        ...


class TorchScript:
    """torch.jit.trace, then the pnnx program."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._model = Path(f"{case.name}.pt")
        self._traced: Counter[str] = Counter()
        self._modules: set[str] = set()

    def export(self, model: torch.nn.Module, inputs: tuple[Any, ...]) -> None:
        if "input" in self._case.options:
            save(self._case.options["input"], inputs)
        traced = torch.jit.trace(model, inputs, check_trace=False)
        traced.save(self._model)
        self._traced = Counter(node.kind() for node in traced.inlined_graph.nodes())
        self._modules = {name for name, _ in model.named_modules()}

    def convert(self, targets: Sequence[str]) -> Conversion:
        given = converter_options(self._case)
        options = [f"{key}={spelled(value)}" for key, value in given.items()]
        first, *others = targets
        printed = pnnx_program.convert(
            self._model, ["fp16=0", *options], self._outputs(first), self._case.limit
        )
        refusals = {
            target: PnnxError(lack)
            for target in others
            if (lack := pnnx_program.unwritten(self._outputs(target), printed))
        }
        param = self._model.with_suffix(".pnnx.param").read_text(encoding="utf-8")
        return Conversion(changed_arithmetic(self._traced, self._modules, param), refusals)

    def _outputs(self, target: str) -> list[Path]:
        files = [self._model.with_suffix(f".{target}.{kind}") for kind in ("param", "bin")]
        return [*files, generated(self._case.name, target)]


class ExportedProgram:
    """torch.export, then pt2pnnx, which needs no torch and runs in this process."""

    def __init__(self, case: Case, export: str = PLAIN) -> None:
        self._case = case
        self._export = export
        self._model = Path(f"{case.name}.pt2")

    def export(self, model: torch.nn.Module, inputs: tuple[Any, ...]) -> None:
        if "input" in self._case.options:
            save(self._case.options["input"], inputs)
        program = exported(
            model, inputs, export=self._export, dynamic_shapes=dynamic_shapes(self._case)
        )
        torch.export.save(program, self._model)

    def convert(self, targets: Sequence[str]) -> Conversion:
        from converter import convert

        options = converter_options(self._case)
        converted = convert(self._model, fp16=False, ncnn="ncnn" in targets, **options)
        refusal = converted.ncnn_refusal
        return Conversion(converted.arithmetic_changed, {"ncnn": refusal} if refusal else {})


FRONTENDS: Mapping[str, Callable[[Case], Frontend]] = {"ts": TorchScript, "pt2": ExportedProgram}


def frontend_of(case: Case, frontend: str, export: str) -> Frontend:
    """The way of a case through a frontend, exported as `suites.trial.EXPORTS` has it."""
    return FRONTENDS[frontend](case) if export == PLAIN else ExportedProgram(case, export)


def exported(
    model: torch.nn.Module,
    inputs: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    *,
    export: str = PLAIN,
    dynamic_shapes: Any = None,
) -> torch.export.ExportedProgram:
    """Export a model in one of the ways of `suites.trial.EXPORTS`. Raises what torch raises."""
    program = torch.export.export(
        model, inputs, kwargs, dynamic_shapes=dynamic_shapes, strict=export == STRICT
    )
    return program.run_decompositions(_decompositions()) if export == DECOMPOSED else program


@cache
def _decompositions() -> dict[Any, Callable[..., Any]]:
    """The default ones: making this table takes longer than using it."""
    return dict(torch.export.default_decompositions().materialize())


def converter_options(case: Case) -> dict[str, Any]:
    """A case's options; with `inputshape2`, the shapes that it is compared with."""
    options = dict(case.options)
    if "inputshape2" in options:
        options["inputshape"] = ",".join(
            f"[{','.join(map(str, x.shape))}]{name(x)}" for x in case.inputs
        )
    return options


def name(given: Input) -> str:
    """pnnx's name of an input's dtype."""
    return DTYPE_NAMES[numpy.dtype(given.dtype)]


def dynamic_shapes(case: Case) -> tuple[dict[int, Any], ...] | None:
    """The dims that `inputshape2` leaves dynamic, as torch.export is told of them."""
    seconds = second_inputs(case)
    if seconds is None:
        return None
    return tuple(
        {
            axis: torch.export.Dim.DYNAMIC
            for axis, (size, other) in enumerate(zip(one.shape, two.shape, strict=True))
            if size != other
        }
        for one, two in zip(case.inputs, seconds, strict=True)
    )


def spelled(value: Any) -> str:
    """An option as the program's command line has it: files and names are separated by commas."""
    return value if isinstance(value, str) else ",".join(value)


def generated(name: str, target: str) -> Path:
    """The Python module that a converter writes for a target."""
    return Path(f"{name}_{target}.py")


def import_generated(path: Path) -> ModuleType:
    """Import a generated module from where it lies; it is not kept in `sys.modules`."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
