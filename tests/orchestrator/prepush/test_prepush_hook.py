"""git's hook is set, kept and removed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from repositories import Repository

from orchestrator.errors import UsageError
from orchestrator.prepush import hook
from orchestrator.prepush.git import environment


@pytest.fixture
def made(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


def test_it_starts_this_program_with_gits_words(made: Repository) -> None:
    file = hook.install(made.git, None)
    assert file == made.folder / ".git" / "hooks" / "pre-push"
    assert file.stat().st_mode & 0o111
    assert f"{sys.executable}\n" in file.read_text()
    hook.install(made.git, 90.0)
    assert "prepush --budget 90 --hook" in file.read_text()
    assert hook.uninstall(made.git) == file
    assert not file.exists()
    with pytest.raises(UsageError, match="no hook"):
        hook.uninstall(made.git)


def test_another_hook_is_left_as_it_is(made: Repository) -> None:
    file = made.folder / ".git" / "hooks" / "pre-push"
    file.parent.mkdir(exist_ok=True)
    file.write_text("#!/bin/sh\n")
    for act in (lambda: hook.install(made.git, None), lambda: hook.uninstall(made.git)):
        with pytest.raises(UsageError, match="another hook"):
            act()
    assert file.read_text() == "#!/bin/sh\n"


def test_git_tells_where_hooks_are(made: Repository, tmp_path: Path) -> None:
    made.commit(a="1")
    other = tmp_path / "other"
    made.git("worktree", "add", "--quiet", str(other))
    assert hook.place(type(made.git)(other)) == hook.place(made.git).resolve()
    made.git("config", "core.hooksPath", "mine")
    assert hook.install(made.git, None) == made.folder / "mine" / "pre-push"


def test_it_runs_at_a_push_and_blocks_where_the_python_is_gone(made: Repository) -> None:
    made.commit(a="1")
    file = hook.install(made.git, None)
    file.write_text(file.read_text().replace(sys.executable, "/nowhere/python"))
    push = ["git", "push", "origin", "main"]
    done = subprocess.run(push, cwd=made.folder, env=environment(), capture_output=True, text=True)
    assert done.returncode
    assert "/nowhere/python is gone; build it again: nox -s orchestrator" in done.stderr
    assert "--no-verify" in done.stderr
    assert not made.git("ls-remote", "origin")
    made.git(*push[1:], "--no-verify")
    assert made.git("ls-remote", "origin")
