"""A runner from its slot's side: what it is told, and how it may end."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from live import eventually

from orchestrator.cells import load_cells
from orchestrator.record import CellRecord
from orchestrator.runner import client
from orchestrator.runner.client import Runner, RunnerDied
from orchestrator.runner.messages import Order
from suites.trial import Outcome, Stage, Trial

CELL = load_cells()["torch213-tf5"]
NATIVE = replace(CELL, env=load_cells()["torch213-mkl-native-threads"].env)
"""The main cell's packages, with all of the machine's threads."""


def order(case: str, limit: float = 60.0, targets: Sequence[str] = ("pnnx",)) -> Order:
    return Order(tuple(Trial(case, CELL.name, "pt2", target) for target in targets), limit)


@pytest.fixture(scope="module")
def native() -> Iterator[tuple[Runner, CellRecord]]:
    """A warm runner, and its cell as it found it."""
    # What Ray sets in its actors must not reach the trials.
    os.environ["OMP_NUM_THREADS"] = "1"
    runner = Runner(NATIVE, CELL.python_path())
    del os.environ["OMP_NUM_THREADS"]
    yield runner, runner.ready().cell
    runner.close()


def test_native_threads(native: tuple[Runner, CellRecord]) -> None:
    """Matrix products, backward and FFT with several threads, in a fork of a parent with one."""
    runner, found = native
    assert found.threads == len(os.sched_getaffinity(0))
    assert found.env == {}
    assert found.packages["torch"].startswith("2.13.0")
    (result,) = runner.run(order("selfcheck_threads"))
    assert result.outcome is Outcome.passed, result.diagnostic
    tasks = len(os.listdir(f"/proc/{runner.pid}/task"))
    assert tasks == 1, "a runner with more than one thread cannot fork safely"


@pytest.mark.skipif(os.path.exists("/dev/nvidia0"), reason="this machine has a GPU")
def test_spawned_trial(native: tuple[Runner, CellRecord]) -> None:
    """A CUDA trial starts afresh, as CUDA does not outlive a fork; here it finds no device."""
    trial = Trial("F_relu6", CELL.name, "pt2", "pnnx", "cuda")
    (result,) = native[0].run(Order((trial,), 60))
    assert (result.outcome, result.stage) == (Outcome.skipped, Stage.build), result.diagnostic
    assert "needs a CUDA device" in result.diagnostic
    assert "build" in result.seconds


def test_memory_is_the_trials_own(native: tuple[Runner, CellRecord]) -> None:
    (result,) = native[0].run(order("selfcheck_right"))
    assert result.peak_mb is not None
    assert 0 < result.peak_mb < 200  # the runner itself has more


BOTH = ("pnnx", "ncnn")
CONVERSION = (Stage.build, Stage.eager, Stage.export, Stage.convert)


def test_one_conversion_serves_both_targets(native: tuple[Runner, CellRecord]) -> None:
    pnnx, ncnn = native[0].run(order("selfcheck_both", targets=BOTH))
    assert pnnx.trial.target == "pnnx"
    assert ncnn.trial.target == "ncnn"
    assert (pnnx.outcome, ncnn.outcome) == (Outcome.passed, Outcome.passed), ncnn.diagnostic
    assert list(pnnx.seconds) == list(ncnn.seconds) == list(Stage)
    for stage in Stage:
        assert (pnnx.seconds[stage] == ncnn.seconds[stage]) == (stage in CONVERSION), stage
    assert pnnx.rules == ncnn.rules != ()


def test_each_trial_has_a_limit_of_its_own(
    native: tuple[Runner, CellRecord], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the first came to is told before the second begins, which may take as long again."""
    monkeypatch.setattr(client, "GRACE", 0.5)
    results = native[0].run(order("selfcheck_slow", 2.0, BOTH))
    assert [result.outcome for result in results] == [Outcome.passed] * 2


def test_a_crash_spares_the_result_before_it(native: tuple[Runner, CellRecord]) -> None:
    pnnx, ncnn = native[0].run(order("selfcheck_late", targets=BOTH))
    assert pnnx.outcome is Outcome.passed, pnnx.diagnostic
    assert (ncnn.outcome, ncnn.stage) == (Outcome.crashed, Stage.load)


@pytest.mark.parametrize(
    ("case", "limit", "outcome", "stage"),
    [
        ("selfcheck_crash", 60.0, Outcome.crashed, Stage.export),
        ("selfcheck_hang", 1.0, Outcome.timed_out, Stage.eager),
        ("selfcheck_exception", 60.0, Outcome.failed, Stage.export),
    ],
)
def test_what_stops_all_targets_is_told_of_each(
    native: tuple[Runner, CellRecord], case: str, limit: float, outcome: Outcome, stage: Stage
) -> None:
    results = native[0].run(order(case, limit, BOTH))
    assert [result.trial.target for result in results] == list(BOTH)
    assert {(result.outcome, result.stage) for result in results} == {(outcome, stage)}


def test_killed_runner() -> None:
    """It is told at once, and not when the trial's limit has passed."""
    started = time.monotonic()
    os.environ["PNNX_PARITY_FAULT"] = "always"
    runner = Runner(CELL, CELL.python_path())
    del os.environ["PNNX_PARITY_FAULT"]
    folder = Path(runner.ready().folder)
    assert folder.is_dir()
    with pytest.raises(RunnerDied, match="its runner was killed by SIGKILL"):
        runner.run(order("selfcheck_fault"))
    runner.close()
    assert not folder.exists()
    assert time.monotonic() - started < 60


def below(process: int) -> list[int]:
    """The processes that a process has started, and those that they have."""
    text = Path(f"/proc/{process}/task/{process}/children").read_text()
    children = [int(word) for word in text.split()]
    return children + [each for child in children for each in below(child)]


@pytest.mark.parametrize("ends", ["slot hangs up", "kernel tells of the slot's death"])
def test_ends_in_the_middle_of_a_trial(ends: str) -> None:
    """With it go the trial, the program that the trial runs, and their files."""
    runner = Runner(CELL, CELL.python_path())
    folder = Path(runner.ready().folder)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(runner.run, order("selfcheck_hang", 600))
        assert eventually(lambda: len(below(runner.pid)) == 2, 30)
        processes = below(runner.pid)
        if ends == "slot hangs up":
            assert runner._process.stdin is not None
            runner._process.stdin.close()
        else:
            os.kill(runner.pid, signal.SIGTERM)
        with pytest.raises(RunnerDied, match="its runner ended with exit status 0"):
            running.result(30)
    assert not [each for each in processes if Path(f"/proc/{each}/exe").exists()]
    assert not folder.exists()
    runner.close()


def test_does_not_start() -> None:
    """A Python without torch: the error is the last line that it said."""
    runner = Runner(CELL, Path(sys.executable))
    with pytest.raises(
        RunnerDied, match="exit status 1: ModuleNotFoundError: No module named 'torch'"
    ):
        runner.ready()
    runner.close()
