"""One place chooses by the operating system; everything else asks `suites.system`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from suites.system import choose
from suites.system.linux import Linux
from suites.system.posix import Posix

ROOT = Path(__file__).parents[3]

ASKS = {"sys.platform", "os.name", "platform.system", "os.uname"}
UNIX_ONLY = {"fcntl", "resource", "termios", "pwd", "grp", "pty"}
WINDOWS_ONLY = {"msvcrt", "winreg", "_winapi"}
CALLS = {
    *("os.fork", "os.forkpty", "os.setsid", "os.killpg", "os.getpgrp", "os.pidfd_open"),
    *("os.wait4", "os.posix_spawn", "os.mkfifo", "time.tzset", "signal.pause", "signal.alarm"),
    *("signal.SIGKILL", "signal.SIGHUP", "signal.SIGUSR1", "signal.pthread_kill"),
    *("select.select", "select.poll", "signal.setitimer", "signal.sigwait"),
}
"""What is not on every system, or does not do the same there."""

REVIEWED = {
    "orchestrator/runner/survey.py": {"sys.platform"},  # records it
    "orchestrator/recorder.py": {"sys.platform"},  # records it
    # The converter has no layer below it; how it locks and replaces its outputs is its alone.
    "converter/files.py": {"sys.platform", "fcntl"},
    "converter/signals.py": {"sys.platform", "signal.SIGHUP"},
}
"""Who may ask, and what."""


def used(file: Path) -> Iterator[str]:
    """What a file takes of other modules, spelled `module.name`, and the modules themselves."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield f"{node.value.id}.{node.attr}"
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.keyword) and node.arg in ("preexec_fn", "start_new_session"):
            yield f"{node.arg}="


def sources() -> Iterator[Path]:
    yield ROOT / "noxfile.py"
    for folder in ("converter", "suites", "orchestrator"):
        yield from (ROOT / folder).rglob("*.py")


def test_nothing_else_depends_on_the_system() -> None:
    wrong = ASKS | UNIX_ONLY | WINDOWS_ONLY | CALLS | {"preexec_fn=", "start_new_session="}
    found = {}
    for file in sources():
        name = file.relative_to(ROOT).as_posix()
        if not name.startswith("suites/system/"):
            bad = wrong.intersection(used(file))
            if bad:
                found[name] = bad
    assert found == REVIEWED


def test_what_it_finds(tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    file.write_text("import fcntl\nfrom sys import platform\nPopen([], preexec_fn=f)\nos.fork()\n")
    assert set(used(file)) >= {"fcntl", "sys.platform", "preexec_fn=", "os.fork"}


def test_each_platform_has_one() -> None:
    assert type(choose("linux")) is Linux
    assert type(choose("darwin")) is Posix
    assert type(choose("linux", "posix")) is Posix


def test_another_is_refused() -> None:
    with pytest.raises(SystemExit, match="PNNX_PARITY_SYSTEM=amiga: no such system; give linux"):
        choose("linux", "amiga")
