"""What a trial prints goes to its file, whatever the process started with."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.cells import ROOT

SCRIPT = """
import os, subprocess, sys
from pathlib import Path
from orchestrator.runner.link import print_to
print_to(Path(sys.argv[1]))
print("printed \N{CHECK MARK}", flush=True)
print("complained", file=sys.stderr, flush=True)
os.write(1, b"written\\n")
subprocess.run(["echo", "by a program"])
"""


@pytest.mark.parametrize("closed", ["", ">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_print_to(tmp_path: Path, closed: str) -> None:
    file = tmp_path / "printed.txt"
    command = ["/bin/sh", "-c", f'exec "$@" {closed}', "sh", sys.executable, "-X", "utf8", "-c"]
    subprocess.run([*command, SCRIPT, file], cwd=ROOT, check=True, timeout=60)
    words = "printed \N{CHECK MARK}\ncomplained\nwritten\nby a program\n"
    assert file.read_text(encoding="utf-8") == words
