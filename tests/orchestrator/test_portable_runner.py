"""A runner without fork, prctl and pidfds, as on macOS: its trials come to the same."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from live import eventually

from orchestrator.cells import load_cells
from orchestrator.runner.client import Runner, RunnerDied
from orchestrator.runner.messages import Order
from suites.system import SWITCH
from suites.trial import Outcome, Stage, Trial

CELL = load_cells()["torch213-tf5"]

MUST: dict[str, tuple[Outcome, Stage | None, str]] = {
    "F_relu": (Outcome.passed, None, ""),
    "nn_Linear": (Outcome.passed, None, ""),
    "selfcheck_right": (Outcome.passed, None, ""),
    "selfcheck_threads": (Outcome.passed, None, ""),
    "selfcheck_noise": (Outcome.passed, None, ""),
    "selfcheck_orphan": (Outcome.passed, None, ""),
    "selfcheck_values": (Outcome.failed, Stage.compare, "6 of 6 values differ"),
    "selfcheck_exception": (Outcome.failed, Stage.export, "raised on purpose"),
    "selfcheck_skip": (Outcome.skipped, Stage.build, "needs what no environment has"),
    "selfcheck_crash": (
        Outcome.crashed,
        Stage.export,
        "was killed by SIGSEGV without a result\nabout to crash",
    ),
    "selfcheck_exit": (Outcome.crashed, Stage.eager, "ended with exit status 0 without a result"),
    "selfcheck_closed": (Outcome.crashed, Stage.eager, "ended with exit status"),
}


def order(case: str, limit: float = 90.0) -> Order:
    return Order((Trial(case, CELL.name, "pt2", "pnnx"),), limit)


def start() -> Runner:
    os.environ[SWITCH] = "posix"
    runner = Runner(CELL, CELL.python_path())
    del os.environ[SWITCH]
    return runner


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    made = start()
    made.ready()
    yield made
    made.close()


@pytest.mark.parametrize("case", MUST)
def test_same_as_with_fork(runner: Runner, case: str) -> None:
    (result,) = runner.run(order(case))
    outcome, stage, diagnostic = MUST[case]
    assert (result.outcome, result.stage) == (outcome, stage), result.diagnostic
    assert diagnostic in result.diagnostic
    assert not below(runner.pid, "-c import time"), "a program that a trial left behind"


def test_time_limit(runner: Runner) -> None:
    """The imports of a fresh process do not count: they alone take longer."""
    (result,) = runner.run(order("selfcheck_hang", 1.5))
    assert (result.outcome, result.stage) == (Outcome.timed_out, Stage.eager), result.diagnostic
    assert "took more than 1.5 s" in result.diagnostic
    assert not below(runner.pid, "-c import time")


def test_ends_with_its_slot() -> None:
    """With it go the trial, the program that the trial runs, and their files."""
    runner = start()
    folder = Path(runner.ready().folder)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(runner.run, order("selfcheck_hang", 600))
        assert eventually(lambda: below(runner.pid, "-c import time"), 60)
        processes = below(runner.pid)
        assert below(runner.pid, "multiprocessing.spawn"), "it has not started afresh"
        assert runner._process.stdin is not None
        runner._process.stdin.close()
        with pytest.raises(RunnerDied, match="its runner ended with exit status 0"):
            running.result(30)
    # The helper of multiprocessing that counts what is shared ends by itself, a moment later.
    assert eventually(lambda: not [each for each in processes if alive(each)], 10)
    assert not folder.exists()
    runner.close()


def alive(process: int) -> bool:
    return Path(f"/proc/{process}/exe").exists()


def below(process: int, mark: str = "") -> list[int]:
    """The processes that one has started, and those that they have, by their command lines."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue  # it has ended meanwhile
        if parent == process:
            number = int(folder.name)
            found += [number] if mark in line else []
            found += below(number, mark)
    return found
