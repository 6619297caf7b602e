"""Real runs of the command line, for the tests beside this, and what they leave behind."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from pathlib import Path

CELL = "torch213-tf5"
"""The one cell that `nox -s tests` builds."""

TAG = "PNNX_PARITY_TEST"
"""An environment variable that every process of a test's run inherits: so they can be found."""


PROGRAM = """
import sys
from pathlib import Path
from orchestrator import runs
from orchestrator.cli import main
runs.RESULTS = Path(sys.argv.pop(1))
sys.exit(main())
"""
"""`pnnx-parity` with other results/: the checkout's history must not order a test's trials."""


class Command:
    """Runs `pnnx-parity` in processes of its own, and finds and ends all that came of them.

    `checkout` is the folder whose code is run, where it is not this one's.
    """

    def __init__(self, results: Path | None = None, checkout: Path | None = None) -> None:
        self._checkout = checkout
        self.tag = uuid.uuid4().hex
        self._temporary = tempfile.TemporaryDirectory()
        self.results = results or Path(self._temporary.name)

    def start(self, *words: str, **variables: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(self.results), *words],
            cwd=self._checkout,
            env=os.environ | {TAG: self.tag} | self._path() | variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def _path(self) -> dict[str, str]:
        return {"PYTHONPATH": str(self._checkout)} if self._checkout else {}

    def run(self, *words: str, **variables: str) -> tuple[int, str]:
        """Return the exit status and what was printed."""
        with self.start(*words, **variables) as process:
            printed, _ = process.communicate(timeout=300)
        return process.returncode, printed

    def __enter__(self) -> Command:
        return self

    def __exit__(self, *error: object) -> None:
        for process in self.processes():
            with contextlib.suppress(ProcessLookupError):  # it has ended meanwhile
                os.kill(process, signal.SIGKILL)
        self._temporary.cleanup()

    def processes(self) -> dict[int, str]:
        """The command lines of all processes that are left, by id."""
        left = {}
        wanted = f"{TAG}={self.tag}".encode()
        for folder in Path("/proc").iterdir():
            try:
                if folder.name.isdecimal() and wanted in (folder / "environ").read_bytes():
                    words = (folder / "cmdline").read_bytes().replace(b"\0", b" ")
                    if words:  # the dead have none
                        left[int(folder.name)] = words.decode(errors="replace")
            except OSError:
                continue  # it has ended meanwhile
        return left

    def of(self, *marks: str) -> list[int]:
        """The processes whose command line has one of some texts in it."""
        found = self.processes().items()
        return [process for process, line in found if any(mark in line for mark in marks)]

    def ours(self) -> list[int]:
        """Those of the project's own: driver, runners, trials and their programs."""
        return self.of("orchestrator.cli", "orchestrator.runner", "time.sleep(3600)", "pnnx/pnnx")


def eventually(true: Callable[[], object], limit: float) -> bool:
    """Wait until something is true, at most `limit` seconds; tell whether it is."""
    end = time.monotonic() + limit
    while not true():
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True
