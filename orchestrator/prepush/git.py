"""What git is asked: always in the user's repository, without the variables of the hook."""

from __future__ import annotations

import os
import subprocess
from functools import cache
from pathlib import Path

from orchestrator.errors import UsageError


class Git:
    """git in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, *words: str) -> str:
        """What git prints. Raises UsageError with what it complains of."""
        done = self._run(*words)
        if done.returncode:
            told = done.stderr.decode(errors="replace").strip().splitlines() or ["it failed"]
            raise UsageError(f"git {' '.join(words[:2])}: {told[-1]}")
        return done.stdout.decode("utf-8", "surrogateescape").removesuffix("\n")

    def ask(self, *words: str) -> str:
        """What git prints; empty where it fails."""
        done = self._run(*words)
        text = done.stdout.decode("utf-8", "surrogateescape").strip()
        return "" if done.returncode else text

    def file(self, commit: str, name: str) -> str | None:
        """A file of a commit; None where it has none."""
        done = self._run("show", f"{commit}:{name}")
        return None if done.returncode else done.stdout.decode("utf-8", "replace")

    def _run(self, *words: str) -> subprocess.CompletedProcess[bytes]:
        try:
            return subprocess.run(
                ["git", *words], cwd=self.folder, env=environment(), capture_output=True
            )
        except FileNotFoundError:
            raise UsageError("git is not on PATH; install it") from None


def environment() -> dict[str, str]:
    """The variables without those by which git tells a hook its repository: in another folder, or
    in a program that asks git of another, they would lead astray."""
    return {name: value for name, value in os.environ.items() if name not in _local()}


@cache
def _local() -> frozenset[str]:
    done = subprocess.run(
        ["git", "rev-parse", "--local-env-vars"], capture_output=True, text=True, check=True
    )
    return frozenset(done.stdout.split())
