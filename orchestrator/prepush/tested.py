"""Run trials with the files of a commit, whatever lies about in the working tree."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from orchestrator import runs
from orchestrator.cells import ROOT
from orchestrator.errors import UsageError
from orchestrator.prepush.git import Git, environment
from suites.system import system
from suites.system.status import ended
from suites.trial import Trial

END = 5.0
"""Seconds of the budget that ending a run and its report take."""

GRACE = 30.0
"""Seconds after which a run that does not end is killed."""


class Ended(NamedTuple):
    """A run that has ended: its folder, and how it went."""

    folder: Path
    is_late: bool
    """It was stopped for want of time."""
    said: list[str]
    """Its last lines, where it failed itself."""


@contextlib.contextmanager
def checked_out(git: Git, commit: str) -> Iterator[Path]:
    """A folder with the files of a commit and the environments of this checkout."""
    with tempfile.TemporaryDirectory(prefix="pnnx-parity-push-") as folder:
        tree = Path(folder) / "tree"
        environments = tree / ".nox"
        plain = ("-c", f"core.hooksPath={os.devnull}")  # its hooks are not for this
        git(*plain, "worktree", "add", "--quiet", "--detach", str(tree), commit)
        try:
            system.link(ROOT / ".nox", environments)
            yield tree
        except UsageError as error:  # the folder is gone when this is read
            raise UsageError(str(error).replace(f"{tree}{os.sep}", "")) from None
        finally:
            environments.unlink(missing_ok=True)
            git.ask("worktree", "remove", "--force", str(tree))


def run(tree: Path, commit: str, trials: Sequence[Trial], seconds: float) -> Ended:
    """Run trials by the pushed `pnnx-parity`, and stop it when the time is over."""
    until = time.monotonic() + seconds - END
    folder = tree.parent / "run"
    made = runs.create(folder, ["prepush"], list(trials))
    made.record.commit = commit
    made.save()
    program = [sys.executable, "-m", "orchestrator.cli", "run", "--resume", str(folder)]
    variables = environment() | {"PYTHONPATH": str(tree)}
    variables.pop("RAY_ADDRESS", None)  # the budget is for what runs here
    with subprocess.Popen(
        program,
        cwd=tree,
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        is_late = False
        try:
            said, _ = process.communicate(timeout=max(until - time.monotonic(), 1.0))
        except subprocess.TimeoutExpired:
            is_late = True
            said = _stop(process)
        except BaseException:
            _stop(process)
            raise
    stopped = is_late and process.returncode == -signal.SIGTERM  # before it could see to that
    failed = process.returncode not in (0, 1, 3) and not stopped
    lines = [*said.strip().splitlines()[-5:], f"the run {ended(process.returncode)}"]
    return Ended(folder, is_late, lines if failed else [])


def _stop(process: subprocess.Popen[str]) -> str:
    """Ask a run to end, as Ctrl-C does; return what it said."""
    if process.poll() is None:
        process.terminate()
    try:
        return process.communicate(timeout=GRACE)[0]
    except subprocess.TimeoutExpired:
        process.kill()
        return process.communicate()[0]
