"""What is installed against what a cell pins, as pip compares versions."""

from __future__ import annotations

from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from orchestrator.cells import ROOT, Cell
from orchestrator.pins import differing, meets, rebuild


@pytest.mark.parametrize(
    ("pin", "version", "is_met"),
    [
        ("torch==2.13.0", "2.13.0", True),
        ("torch==2.13", "2.13.0", True),
        ("torch==2.13.0", "2.13.0+cpu", True),
        ("torch==2.13.0+cpu", "2.13.0+cpu", True),
        ("torch==2.13.0+cpu", "2.13.0+cu130", False),
        ("torch==2.13.0+cpu", "2.13.0", False),
        ("torch===2.13.0", "2.13.0", True),
        ("torch===2.13.0", "2.13.0+cpu", False),
        ("torch===2.13", "2.13.0", False),
        ("torch==2.12.0", "2.13.0", False),
        ("torch==2.15.0.dev20261101", "2.15.0.dev20261101+cpu", True),
        ("torch==2.15.0", "2.15.0rc1", False),
        ("torch==2.13.0", "not a version", False),
    ],
)
def test_versions(pin: str, version: str, is_met: bool) -> None:
    assert meets(Requirement(pin), version) is is_met


def test_every_package_that_differs_is_told() -> None:
    pins = ("torch==2.12.0", "Some_Package==1.0", "numpy==2.4.0")
    cell = Cell("x", "x", SpecifierSet(), pins, None, {}, Path("x.toml"))
    assert list(differing(cell, {"torch": "2.13.0+cpu", "numpy": "2.4.0"})) == [
        "it pins torch==2.12.0, and 2.13.0+cpu is installed",
        "it pins Some_Package==1.0, and Some_Package is not installed",
    ]
    assert not list(differing(cell, {"torch": "2.12.0", "numpy": "2.4.0", "some-package": "1.0"}))


def test_the_mend_names_the_environment() -> None:
    cell = Cell("x", "x", SpecifierSet(), (), None, {}, Path("x.toml"), base="main")
    home = ROOT / ".nox" / "env-main"
    assert rebuild(cell) == f'rebuild the cell: remove {home}, then run: nox -s "env(main)"'
    assert rebuild(cell, home) == rebuild(cell)
    assert rebuild(cell, Path("/cache/x-123")) == "remove /cache/x-123 there: it is built again"
