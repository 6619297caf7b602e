"""git's pre-push hook: a script that starts this program."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

from orchestrator.errors import UsageError
from orchestrator.prepush.git import Git

MARK = "# Set by `pnnx-parity prepush --install`."

SCRIPT = """\
#!/bin/sh
{mark} `git push --no-verify` goes round it.
python={python}
if ! [ -x "$python" ]; then
    echo "pre-push: $python is gone; build it again: nox -s orchestrator;" \\
        "or push without this hook: git push --no-verify" >&2
    exit 1
fi
exec "$python" -P -m orchestrator.cli prepush{options} --hook "$@"
"""


def place(git: Git) -> Path:
    """Where git looks for the hook: one place for all worktrees, or what core.hooksPath says."""
    return git.folder / git("rev-parse", "--git-path", "hooks") / "pre-push"


def install(git: Git, budget: float | None) -> Path:
    """Write the hook. Raises UsageError where there is another."""
    file = place(git)
    if os.path.lexists(file) and not _is_ours(file):
        raise UsageError(
            f"{file} is another hook; move it away, or have it start this one:"
            f' {shlex.quote(sys.executable)} -P -m orchestrator.cli prepush --hook "$@"'
        )
    options = f" --budget {budget:g}" if budget else ""
    python = shlex.quote(Path(sys.executable).as_posix())
    file.parent.mkdir(parents=True, exist_ok=True)
    text = SCRIPT.format(mark=MARK, python=python, options=options)
    file.write_text(text, encoding="utf-8", newline="\n")
    file.chmod(0o755)
    return file


def uninstall(git: Git) -> Path:
    """Remove the hook. Raises UsageError where there is none, or another."""
    file = place(git)
    if not os.path.lexists(file):
        raise UsageError(f"there is no hook at {file}")
    if not _is_ours(file):
        raise UsageError(f"{file} is another hook; it is left as it is")
    file.unlink()
    return file


def _is_ours(file: Path) -> bool:
    try:
        return MARK in file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
