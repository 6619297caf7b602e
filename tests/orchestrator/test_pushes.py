"""A copy of this repository is pushed: what breaks a case is blocked, by the pushed files alone."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from live import CELL

from orchestrator.cells import ROOT
from orchestrator.prepush.git import Git, environment

RULE = 'same("hardtanh.default", "F.hardtanh")'
MENDED = 'same(["hardtanh.default"], "F.hardtanh")'
BROKEN = 'same("hardtanh.default", "F.relu6", drop=("min_val", "max_val"))'
FILE = "converter/aten/activation.py"
HOOK = ("-m", "orchestrator.cli", "prepush", "--install", "--budget", "400")
RUN = ("-m", "orchestrator.cli", "run", "--cell", CELL, "--frontend", "pt2", "--target", "pnnx")


class Copy:
    """This checkout's tracked files as a repository, which has the cells' environments, a smoke set
    of one case, a remote with all of it, an index of two cases, and the hook."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "work"
        names = Git(ROOT)("ls-files", "-z", "--cached", "--others", "--exclude-standard")
        for name in filter(None, names.split("\0")):
            if (ROOT / name).is_file():
                (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, self.folder / name)
        (self.folder / ".nox").symlink_to(ROOT / ".nox")
        smoke = self.folder / "orchestrator" / "prepush" / "smoke.py"
        smoke.write_text('"""One case."""\n\nSMOKE = ("F_relu",)\n')
        remote = str(folder / "remote.git")
        subprocess.run(["git", "init", "--quiet", "--bare", remote], check=True)
        subprocess.run(["git", "init", "--quiet", "-b", "main", str(self.folder)], check=True)
        self.git = Git(self.folder)
        self.git("config", "user.name", "n")
        self.git("config", "user.email", "e@example.org")
        self.git("remote", "add", "origin", remote)
        (self.folder / ".git" / "info" / "exclude").write_text(".nox\n")  # it is a link here
        self.commit()
        self.git("push", "--quiet", "origin", "main")
        self.python(*RUN, "--case", "F_hardtanh", "--case", "F_silu")
        self.python(*HOOK)

    def python(self, *words: str) -> None:
        done = self._run(sys.executable, *words)
        assert done.returncode == 0, done.stdout

    def _run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            words,
            cwd=self.folder,
            env=environment() | {"PYTHONPATH": str(self.folder)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=500,
        )

    def write(self, rule: str) -> None:
        file = self.folder / FILE
        text = file.read_text()
        before = next(each for each in (RULE, MENDED, BROKEN) if each in text)
        file.write_text(text.replace(before, rule))

    def commit(self) -> None:
        self.git("add", "--all")
        self.git("-c", "commit.gpgsign=false", "commit", "--quiet", "--message", "m")

    def push(self) -> tuple[bool, str]:
        """Whether it went through, and what was printed."""
        done = self._run("git", "push", "origin", "main")
        there, here = (self.git(*words).split()[0] for words in (LS_REMOTE, ("rev-parse", "main")))
        assert (there == here) == (done.returncode == 0)
        assert not os.path.exists(self.folder / ".git" / "worktrees")
        return done.returncode == 0, done.stdout


LS_REMOTE = ("ls-remote", "origin", "refs/heads/main")


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    return Copy(tmp_path)


def test_what_is_pushed_is_tested_and_not_what_lies_about(copy: Copy) -> None:
    copy.write(BROKEN)
    copy.commit()
    copy.write(MENDED)  # not committed
    passed, printed = copy.push()
    assert not passed, printed
    assert f"unexpected: {CELL}: F_hardtanh: pt2 → pnnx: failed at compare" in printed
    assert "again: " in printed
    assert "--case F_hardtanh" in printed
    assert "git push --no-verify" in printed
    assert "F_silu" not in printed, "it does not go through that rule"
    assert "3 trials of 2 cases" in printed, "F_hardtanh, and the smoke set to both targets"
    assert "1 not as expected" in printed

    copy.commit()
    copy.write(BROKEN)  # not committed
    passed, printed = copy.push()
    assert passed, printed
    assert "3 trials of 2 cases" in printed
    assert "all as expected" in printed
