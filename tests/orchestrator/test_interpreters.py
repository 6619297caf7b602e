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
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def test_this_one_comes_first(path: Path) -> None:
    program(path, "python3.19")
    assert interpreters.find(SpecifierSet(">=3.11")) == sys.executable


def test_the_newest_on_path(path: Path) -> None:
    program(path, "python3.15")
    newest = program(path, "python3.16")
    program(path, "python3.17")
    assert interpreters.find(SpecifierSet(">=3.15,<3.17")) == newest


def test_by_uv(path: Path) -> None:
    wanted = "python find --no-python-downloads --no-project ==3.18.*"
    program(path, "uv", f'[ "$*" = "{wanted}" ] && echo /there/python3.18')
    assert interpreters.find(SpecifierSet("==3.18.*")) == "/there/python3.18"
    assert interpreters.find(SpecifierSet("==3.19.*")) is None


def test_none(path: Path) -> None:
    wanted = SpecifierSet("==3.18.*")
    assert interpreters.find(wanted) is None
    assert interpreters.lack(wanted) == (
        "this machine has no Python ==3.18.*: install one so that PATH or uv has it,"
        ' such as with: uv python install "==3.18.*"'
    )
