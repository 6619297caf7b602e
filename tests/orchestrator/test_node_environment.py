"""A cell's environment on a node that lacks it: built once, from the pins, or one clear error."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

from orchestrator.cells import Cell, CellError
from orchestrator.cluster import build

CELL = Cell("tiny", "tiny", SpecifierSet(), ("tinypackage==1.2",), None, {}, Path("tiny.toml"))


def wheel(folder: Path) -> None:
    """Write the smallest wheel that pip installs."""
    info = "tinypackage-1.2.dist-info"
    with zipfile.ZipFile(folder / "tinypackage-1.2-py3-none-any.whl", "w") as file:
        file.writestr("tinypackage.py", "answer = 42\n")
        file.writestr(
            f"{info}/METADATA", "Metadata-Version: 2.1\nName: tinypackage\nVersion: 1.2\n"
        )
        file.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        file.writestr(f"{info}/RECORD", "")


@pytest.fixture(autouse=True)
def node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A node with a cache of its own, and pip with one folder of packages instead of an index."""
    wheel(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.setattr(build, "ROOT", tmp_path)
    project = "[project]\ndependencies = []\noptional-dependencies = { suites = [] }\n"
    (tmp_path / "pyproject.toml").write_text(project)


def test_built_once_for_all_slots(tmp_path: Path) -> None:
    """Where there is half an environment already, too: it does not count."""
    half = build._cache() / f"tiny-{build._digest(list(CELL.pins))}" / "bin" / "python"
    half.parent.mkdir(parents=True)
    half.touch()
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda _: build.python_of(CELL, tmp_path), range(2))
    assert first == second == half
    said = subprocess.run(
        [first, "-c", "import tinypackage; print(tinypackage.answer)"],
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    assert said.stdout == "42\n"
    stamp = (first.parent.parent / "pyvenv.cfg").stat().st_mtime_ns
    assert build.python_of(CELL, tmp_path) == first
    assert (first.parent.parent / "pyvenv.cfg").stat().st_mtime_ns == stamp


def test_cells_of_one_base_share_it(tmp_path: Path) -> None:
    made = build.python_of(CELL, tmp_path)
    sharing = replace(CELL, name="tiny-mkl", base="tiny")
    assert build.python_of(sharing, tmp_path) == made


def test_what_nox_built_is_taken(tmp_path: Path) -> None:
    python = tmp_path / ".nox" / "env-tiny" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.touch()
    assert build.python_of(CELL, tmp_path) == python
    assert not (tmp_path / "cache").exists()


def test_package_that_does_not_exist(tmp_path: Path) -> None:
    other = replace(CELL, pins=("tinypackage==1.3",))
    with pytest.raises(
        CellError, match=r"cell tiny cannot be built on .*tinypackage==1\.3"
    ) as caught:
        build.python_of(other, tmp_path)
    assert "\n" not in str(caught.value)
    assert 'nox -s "env(tiny)"' in str(caught.value)


def test_no_python_that_fits(tmp_path: Path) -> None:
    other = replace(CELL, python=SpecifierSet(">=4"))
    with pytest.raises(CellError, match="has no Python >=4 that runs: install one"):
        build.python_of(other, tmp_path)
    assert f"{sys.version_info.major}.{sys.version_info.minor}" not in other.python
