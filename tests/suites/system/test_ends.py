"""Processes end with the one that started them, also where the kernel does not see to it."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]

PARENT = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", sys.argv[1]], start_new_session=True,
                         stdout=subprocess.PIPE, text=True)
print(child.stdout.readline().strip(), flush=True)
sys.stdin.read()
"""

CHILD = """
import os, subprocess, sys, time
from suites.system import choose
one = choose("", {name!r})
one.end_with_parent(os.getppid(), at_once={at_once})
program = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], **one.dependent)
print(os.getpid(), program.pid, flush=True)
try:
    time.sleep(60)
finally:
    program.kill()
"""


def alive(process: str) -> bool:
    return Path("/proc", process, "exe").exists()


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("name", ["linux", "posix"])
def test_with_the_parent(name: str, at_once: bool) -> None:
    script = CHILD.format(name=name, at_once=at_once)
    if not at_once:
        script = "import signal\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit())\n" + script
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, script],
        cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as parent:  # fmt: skip
        assert parent.stdout is not None
        processes = parent.stdout.readline().split()
        assert len(processes) == 2
        assert all(map(alive, processes))
        parent.kill()
    end = time.monotonic() + 20
    while any(map(alive, processes)):
        assert time.monotonic() < end
        time.sleep(0.05)
