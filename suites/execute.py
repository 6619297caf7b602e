"""One trial from building its case to comparing what came out."""

from __future__ import annotations

import contextlib
import time
import traceback
import warnings
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch

from converter.errors import ConvertError
from converter.rules import recorded
from suites import compare
from suites.case import Case, Missing
from suites.frontends import Conversion, frontend_of, generated, import_generated
from suites.inputs import draw, second_inputs
from suites.needs import lacking
from suites.pnnx_program import PnnxError
from suites.registry import index, load
from suites.trial import DECOMPOSED, Outcome, Result, Stage, Trial

TOLD = 4000
"""Characters of a diagnostic that are kept: the message, then the end of its traceback."""

BUILD_SEED = 1
"""Not the seed of the inputs, whose first numbers would be a model's first weights too."""

PLAIN = (ConvertError, PnnxError, compare.Mismatch)
"""Findings whose text says all: a traceback would be of this program, not of the case."""


CONVERTED = (Stage.load, Stage.infer, Stage.compare)
"""The stages after the conversion."""

GRAPH_MAX = 4 << 20
"""Bytes of a `.pnnx.param` that is kept; a large model's has 100,000."""


class Stages:
    """Which stage a trial is in and how many seconds each took; tells `on_stage` of each."""

    def __init__(
        self, on_stage: Callable[[Stage], None], before: Mapping[Stage, float] | None = None
    ) -> None:
        """`before`: the seconds of a trial whose conversion serves this one too."""
        self.current = Stage.convert if before else Stage.build
        self.seconds: dict[Stage, float] = {
            stage: seconds for stage, seconds in (before or {}).items() if stage not in CONVERTED
        }
        self._on_stage = on_stage
        self._since = 0.0

    def enter(self, stage: Stage) -> None:
        self.leave()
        self.current = stage
        self._on_stage(stage)

    def leave(self) -> None:
        """Close the current stage."""
        now = time.perf_counter()
        if self._since:
            self.seconds[self.current] = now - self._since
        self._since = now


def run_trial(
    trial: Trial, workdir: Path, on_stage: Callable[[Stage], None] = lambda stage: None
) -> Result:
    """Run a trial in this process, with its files in `workdir`; whatever it raises is its result.

    `on_stage` hears of each stage as it begins. Changes the working directory meanwhile, and leaves
    torch's generator in another state: the caller isolates trials from each other.
    """
    (result,) = run_trials([trial], workdir, on_stage)
    return result


def run_trials(
    trials: Sequence[Trial],
    workdir: Path,
    on_stage: Callable[[Stage], None] = lambda stage: None,
) -> Iterator[Result]:
    """Run trials that differ in their targets alone.

    One conversion serves the targets that have the same inputs, and each result tells of its
    seconds: they are what the trial takes by itself. What stops the conversion for all targets at
    once is tried again for each alone.
    """
    converted: Converted | None = None
    result: Result | None = None
    for number, trial in enumerate(trials):
        is_ready = converted is not None and trial.target in converted.targets
        before = result if is_ready else None
        stages = Stages(on_stage, before.seconds if before else None)
        outcome, diagnostic, rules = Outcome.passed, "", set[str]()
        try:
            with contextlib.chdir(workdir), warnings.catch_warnings(), torch.no_grad():
                warnings.simplefilter("ignore")
                with recorded() as rules:
                    if not is_ready:
                        converted = None
                        converted = _convert(trials[number:], stages.enter)
                    assert converted is not None
                    _compare(trial, converted, stages.enter)
        except Missing as missing:
            outcome, diagnostic = Outcome.skipped, str(missing)
        except PLAIN as error:
            outcome, diagnostic = Outcome.failed, _message(error)
        except (Exception, SystemExit) as error:  # noqa: BLE001 (the case is foreign code)
            outcome, diagnostic = Outcome.failed, f"{_message(error)}\n{_tail(error)}"
        stages.leave()
        result = Result(
            trial=trial,
            outcome=outcome,
            stage=None if outcome is Outcome.passed else stages.current,
            diagnostic=diagnostic[:TOLD],
            seconds=stages.seconds,
            graph=_graph(trial, workdir) if stages.current in CONVERTED else b"",
            rules=before.rules if before else tuple(sorted(rules)),
        )
        yield result


class Converted(NamedTuple):
    """A case's model, what it computes, and its conversion for some targets."""

    case: Case
    model: torch.nn.Module
    expected: Any
    targets: Sequence[str]
    conversion: Conversion


def _convert(trials: Sequence[Trial], enter: Callable[[Stage], None]) -> Converted:
    """Convert the first trial's case, for all targets for which that can be done at once."""
    trial = trials[0]
    enter(Stage.build)
    case = _case(trial)
    torch.manual_seed(BUILD_SEED)
    model = case.cls().eval().to(trial.device)
    specs = case.inputs_for(trial.target)
    targets = [each.target for each in trials if case.inputs_for(each.target) == specs]
    frontend = frontend_of(case, trial.frontend, trial.export)

    enter(Stage.eager)
    expected = model(*draw(specs, trial.device))
    enter(Stage.export)
    frontend.export(model, draw(specs, trial.device))
    enter(Stage.convert)
    try:
        conversion = frontend.convert(targets)
    except Exception:
        if len(targets) == 1:
            raise
        targets = targets[:1]  # the others may be what stops it
        conversion = frontend.convert(targets)
    return Converted(case, model, expected, targets, conversion)


def _compare(trial: Trial, converted: Converted, enter: Callable[[Stage], None]) -> None:
    """Run what was generated for the trial's target, and compare it with the model."""
    case, model, expected, _, conversion = converted
    if trial.target in conversion.refusals:
        raise conversion.refusals[trial.target]
    enter(Stage.load)
    module = import_generated(generated(case.name, trial.target))
    enter(Stage.infer)
    actual = module.test_inference()
    enter(Stage.compare)
    if trial.target == "ncnn":
        expected, actual = compare.flat(expected), compare.flat(actual)
    # A CUDA model's generated module runs on the CPU: other kernels for the same operators. What a
    # function is decomposed into rounds otherwise than the function.
    rounds = trial.device != "cpu" or trial.export == DECOMPOSED
    changed = conversion.arithmetic_changed or rounds
    rule = compare.rule_of(trial.target, changed, case.tolerance)
    compare.compare(expected, actual, rule)
    seconds = second_inputs(case)
    if seconds is not None and trial.target == "pnnx":
        generated_model = module.Model().eval()
        compare.compare(model(*draw(seconds, trial.device)), generated_model(*draw(seconds)), rule)


def _case(trial: Trial) -> Case:
    """The trial's case, imported only where this environment has what it needs."""
    lack = lacking(index()[trial.case].needs)
    if lack:
        raise Missing(lack)
    if trial.device == "cuda" and not torch.cuda.is_available():
        raise Missing("needs a CUDA device, which this machine lacks")
    return load(trial.case)


def _graph(trial: Trial, workdir: Path) -> bytes:
    """What a trial converted to, for `Result.graph`.

    Other targets and devices have other inputs or other programs than the frontends share.
    """
    file = workdir / f"{trial.case}.pnnx.param"
    if trial.target != "pnnx" or trial.device != "cpu":
        return b""
    return zlib.compress(file.read_bytes(), 9) if file.stat().st_size <= GRAPH_MAX else b""


def _message(error: BaseException) -> str:
    """The error's type and what it says, the latter bounded."""
    return f"{type(error).__name__}: {error}"[: TOLD // 2]


def _tail(error: BaseException) -> str:
    """The end of the traceback, innermost call last."""
    return "".join(traceback.format_tb(error.__traceback__))[-TOLD // 2 :]
