"""Printed commands: what a shell runs where the program was started."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator import spelling
from orchestrator.cells import ROOT

SCRIPT = Path(sys.executable).with_name("pnnx-parity")


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    spelling._program.cache_clear()
    yield
    spelling._program.cache_clear()


def test_by_its_name_where_path_leads_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(SCRIPT.parent))
    assert spelling.command("show", "a run", "F_relu") == "pnnx-parity show 'a run' F_relu"


def test_not_by_the_name_of_another(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    other = tmp_path / "pnnx-parity"
    other.write_text("#!/bin/sh\n")
    other.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert spelling.command("list").startswith(str(SCRIPT))


def test_from_the_working_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", "/bin")
    monkeypatch.chdir(tmp_path)
    python = tmp_path / ".nox" / "orchestrator" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.with_name("pnnx-parity").touch()
    monkeypatch.setattr(sys, "executable", str(python))
    assert spelling.command("run") == ".nox/orchestrator/bin/pnnx-parity run"


def test_without_a_script(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "my python"))
    said = spelling.command("audit")
    assert shlex.split(said) == [str(tmp_path / "my python"), "-m", "orchestrator.cli", "audit"]


def test_what_is_printed_can_be_pasted() -> None:
    told = spelling.command("list", "cells")
    done = subprocess.run(told, shell=True, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "torch213-tf5: " in done.stdout
