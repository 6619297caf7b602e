"""Pythons for cells: found on PATH or by uv, or told to be lacking."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

from orchestrator import interpreters


def program(folder: Path, name: str, text: str = "") -> str:
    file = folder / name
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)
    return str(file)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    return tmp_path / "bin"


def python(folder: Path, name: str, version: str) -> str:
    """A program that says, as a Python does, of which version it is."""
    return program(folder, name, f"echo {version}")


def test_this_one_comes_first(path: Path) -> None:
    python(path, "python3.19", "3.19.0")
    assert interpreters.find(SpecifierSet(">=3.11")) == sys.executable


def test_the_newest_on_path(path: Path) -> None:
    python(path, "python3.15", "3.15.2")
    newest = python(path, "python3.16", "3.16.1")
    python(path, "python3.17", "3.17.0")
    assert interpreters.find(SpecifierSet(">=3.15,<3.17")) == newest
    assert interpreters.find(SpecifierSet(">=3.15,<3.16")) == str(path / "python3.15")


def test_a_stand_in_that_starts_none(path: Path) -> None:
    """As pyenv puts on PATH for each version that it has, whether or not it is chosen."""
    program(path, "python3.16", "echo command not found >&2; exit 127")
    python(path, "python3.17", "3.12.1")
    assert interpreters.find(SpecifierSet(">=3.16")) is None


def test_of_pyenv(path: Path) -> None:
    program(path, "python3.16", "exit 127")
    for version in ("3.16.2", "3.16.10", "3.17.0", "3.18-dev"):
        folder = path.parent / "pyenv" / "versions" / version / "bin"
        folder.mkdir(parents=True)
        python(folder, "python", version)
    found = interpreters.find(SpecifierSet("==3.16.*"))
    assert found == str(path.parent / "pyenv" / "versions" / "3.16.10" / "bin" / "python")


def test_by_uv(path: Path) -> None:
    wanted = "python find --no-python-downloads --no-project ==3.18.*"
    there = python(path.parent, "there", "3.18.4")
    program(path, "uv", f'[ "$*" = "{wanted}" ] && echo {there}')
    assert interpreters.find(SpecifierSet("==3.18.*")) == there
    assert interpreters.find(SpecifierSet("==3.19.*")) is None


def test_none(path: Path) -> None:
    wanted = SpecifierSet("==3.18.*")
    assert interpreters.find(wanted) is None
    assert interpreters.lack(wanted) == (
        "this machine has no Python ==3.18.* that runs: install one so that PATH, pyenv or uv has"
        ' it, such as with: uv python install "==3.18.*"'
    )
