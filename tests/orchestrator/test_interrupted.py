"""Runs that are stopped or killed: what is left, and how they are completed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from live import CELL, Command, eventually

from orchestrator import journal

TRIALS = {"selfcheck_crash", "selfcheck_dtype", "selfcheck_hang"}
"""The last one hangs in a program of its own until its limit."""


@pytest.fixture
def command() -> Iterator[Command]:
    with Command() as made:
        yield made


def start(command: Command, folder: Path) -> subprocess.Popen[str]:
    """Start a run and wait until its last trial hangs, with two results in the journal."""
    process = command.start(
        *["run", "--cell", CELL, "--suite", "selfcheck", "-k", "crash or dtype or hang"],
        *["--frontend", "ts", "--limit", "600", "--output", str(folder)],
    )
    file = folder / journal.NAME
    at_work = eventually(
        lambda: file.exists() and len(journal.read(file)) == 2 and command.of("time.sleep"), 120
    )
    if not at_work:
        left = command.processes()
        process.kill()
        pytest.fail(f"{process.communicate()[0]}\n{file.read_text()}\nleft: {left}")
    return process


def resume(command: Command, folder: Path) -> None:
    """Complete the run; assert that no trial is lost, nor run again."""
    before = (folder / journal.NAME).read_text().splitlines()
    status, printed = command.run("run", "--resume", str(folder), "--limit", "1")
    assert status == 1, printed  # complete, with the failures that these samples have
    assert "1 of 3 trials are missing" in printed
    lines = (folder / journal.NAME).read_text().splitlines()
    assert lines[:2] == before[:2]
    results = journal.read(folder / journal.NAME)
    assert {result.trial.case for result in results} == TRIALS
    assert results[-1].outcome == "timed_out"
    record = json.loads((folder / "run.json").read_text())
    assert record["finished"]
    assert not record.get("stopped")


def stop(command: Command, folder: Path, kill: Callable[[int], None]) -> None:
    """Start a run and stop it; assert that it ends well, with nothing left."""
    with start(command, folder) as process:
        kill(process.pid)
        printed, _ = process.communicate(timeout=30)
    assert process.returncode == 3, printed
    assert "interrupted" in printed
    assert f"--resume {folder}" in printed
    assert "Traceback" not in printed
    (missing,) = json.loads((folder / "report.json").read_text())["missing"]
    assert missing["cause"] == "interrupted"
    assert eventually(lambda: not command.ours(), 10), command.ours()
    assert len(journal.read(folder / journal.NAME)) == 2


def test_stopped_in_a_terminal(command: Command, tmp_path: Path) -> None:
    """Ctrl-C goes to Ray's processes too."""
    stop(command, tmp_path / "run", lambda pid: os.killpg(pid, signal.SIGINT))
    resume(command, tmp_path / "run")


def test_terminated(command: Command, tmp_path: Path) -> None:
    stop(command, tmp_path / "run", lambda pid: os.kill(pid, signal.SIGTERM))


def test_killed(command: Command, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with start(command, folder) as process:
        process.kill()
    assert eventually(lambda: not command.ours(), 10), command.ours()
    with (folder / journal.NAME).open("ab") as file:
        file.write(b'{"trial": {"case": "selfcheck_hang"')  # a line that the kill tore
    resume(command, folder)


def test_given_up(command: Command, tmp_path: Path) -> None:
    """A trial whose runner dies each time has no result; it is named, and can be run again."""
    folder = tmp_path / "run"
    words = ["run", "--cell", CELL, "--suite", "selfcheck", "-k", "fault", "--frontend", "ts"]
    status, printed = command.run(*words, "--output", str(folder), PNNX_PARITY_FAULT="always")
    assert status == 3, printed
    assert f"no result for {CELL}/selfcheck_fault/ts/pnnx/cpu: its runner was killed by" in printed
    assert "3 times" in printed
    (loss,) = json.loads((folder / "run.json").read_text())["lost"]
    assert loss["trial"]["case"] == "selfcheck_fault"
    (missing,) = json.loads((folder / "report.json").read_text())["missing"]
    assert missing["cause"] == loss["reason"]
    status, printed = command.run("run", "--resume", str(folder))
    assert status == 0, printed
    assert json.loads((folder / "run.json").read_text())["lost"] == []
    assert not command.ours()
