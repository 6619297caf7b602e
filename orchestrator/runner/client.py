"""A slot's side of a runner: start it in the cell's Python, send it trials, see it end."""

from __future__ import annotations

import contextlib
import os
import queue
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path

from orchestrator.cells import ROOT, Cell
from orchestrator.runner.messages import Done, Order, Ready, decode_answer, encode
from suites.system import system
from suites.system.status import ended
from suites.trial import Result

START_LIMIT = 300.0
"""Seconds for the imports: cold, a CUDA build of torch takes half a minute."""

GRACE = 60.0
"""Seconds beyond a trial's limit that its runner has to start it and to tell of its end."""

UTF_8 = {"PYTHONUTF8": "1"}
"""Trials print and read text the same on every system."""

TAIL = 2000
"""Bytes of the runner's own stderr that an error ends with."""


class RunnerDied(Exception):  # noqa: N818 (an event to act on)
    """The runner ended, or fell silent, before it answered: an infrastructure fault."""


class Runner:
    """A runner process, in a cell's Python.

    `extra` are environment variables beyond the cell's: the number of a GPU.
    """

    def __init__(self, cell: Cell, python: Path, extra: Mapping[str, str] | None = None) -> None:
        self._folder: str | None = None
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 (closed by close)
        self._answers: queue.SimpleQueue[Ready | Done | None] = queue.SimpleQueue()
        self._process = subprocess.Popen(
            [python, "-m", "orchestrator.runner"],
            cwd=ROOT,
            env=cell.environ(os.environ) | UTF_8 | dict(extra or {}),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            **system.apart,  # Ctrl-C in a terminal is the driver's to handle
        )
        self._family = system.adopt(self._process.pid)
        threading.Thread(target=self._listen, daemon=True).start()

    @property
    def pid(self) -> int:
        return self._process.pid

    def ready(self) -> Ready:
        """Wait until it is warm. Raises RunnerDied."""
        answer = self._answer(START_LIMIT)
        assert isinstance(answer, Ready)
        self._folder = answer.folder
        return answer

    def run(self, order: Order) -> list[Result]:
        """Run trials; return what each came to. Raises RunnerDied; the runner is of no use then."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):  # the answer's end tells; EINVAL on Windows
            self._process.stdin.write(encode(order) + b"\n")
            self._process.stdin.flush()
        results = []
        for _ in order.trials:
            answer = self._answer(order.limit + GRACE)
            assert isinstance(answer, Done)
            results.append(answer.result)
        return results

    def close(self) -> None:
        """End it, and with it the trial that it may be at; wait for that."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        self._end(5)
        self._family.close()
        self._stderr.close()
        if self._folder:  # still there if it was killed
            shutil.rmtree(self._folder, ignore_errors=True)

    def _listen(self) -> None:
        assert self._process.stdout is not None
        try:
            for line in self._process.stdout:
                self._answers.put(decode_answer(line))
        finally:
            self._answers.put(None)

    def _answer(self, limit: float) -> Ready | Done:
        try:
            answer = self._answers.get(timeout=limit)
        except queue.Empty:
            self._end(0)
            raise RunnerDied(f"its runner was silent for {limit:g} s") from None
        if answer is None:
            self._end(2)
            status = self._process.returncode
            raise RunnerDied(f"its runner {ended(status)}{self._last_words()}")
        return answer

    def _end(self, grace: float) -> None:
        """Wait for the process's end, and make one after `grace` seconds."""
        try:
            self._process.wait(grace)
        except subprocess.TimeoutExpired:
            self._family.kill()
            self._process.wait(GRACE)

    def _last_words(self) -> str:
        size = self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, size - TAIL))
        words = self._stderr.read().decode(errors="replace").strip()
        return f": {words.splitlines()[-1]}" if words else ""
