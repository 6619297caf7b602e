"""Small repositories of git, for the tests beside this."""

from __future__ import annotations

import subprocess
from pathlib import Path

from orchestrator.prepush.git import Git, environment

WHO = ("-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgsign=false")


class Repository:
    """A repository with a remote `origin`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "work"
        self.remote = folder / "remote.git"
        for words in (
            ["init", "--quiet", "--bare", str(self.remote)],
            ["init", "--quiet", "--initial-branch=main", str(self.folder)],
        ):
            subprocess.run(["git", *words], check=True, env=environment())
        self.git = Git(self.folder)
        self.git("remote", "add", "origin", str(self.remote))

    def commit(self, **files: str) -> str:
        """Commit files, whose names have `_` for `/` and `.py` as their ending."""
        for name, text in files.items():
            file = self.folder / f"{name.replace('_', '/')}.py"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        self.git("add", "--all")
        self.git(*WHO, "commit", "--quiet", "--allow-empty", "--message", "m")
        return self.git("rev-parse", "HEAD")

    def push(self, *words: str) -> str:
        return self.git("push", "--quiet", "origin", *words)
