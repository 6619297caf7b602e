"""`cell check`: documents and workflows mention only cells and pins that `envs/` has."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.cells import ROOT, Cell, load_cells
from orchestrator.cli import main
from orchestrator.commands import cell as command
from orchestrator.mentions import PLACES, faults

CELL = 'description = "a"\npython = ">=3.11"\npins = ["torch=={torch}", "pnnx==20261020"]\n'


@pytest.fixture
def cells(tmp_path: Path) -> dict[str, Cell]:
    folder = tmp_path / "envs"
    folder.mkdir()
    for name, torch in {
        "torch213-tf5": "2.13.0",
        "torch213-tf4": "2.13.0",
        "next": "2.14.1",
    }.items():
        (folder / f"{name}.toml").write_text(CELL.format(torch=torch))
    return load_cells(folder)


def told(root: Path, cells: dict[str, Cell], text: str, place: str = "README.md") -> list[str]:
    file = root / place
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return list(faults(root, cells))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("in torch213-tf6.", "torch213-tf6 is no cell of envs/; did you mean torch213-tf"),
        ("| `torch299` |", "torch299 is no cell of envs/"),
        ("`torch299-…`", "torch299-… is no cell"),
        ("run --cell nex", "nex is no cell of envs/; did you mean next?"),
        ("run --cell=nex", "nex is no cell"),
        ('nox -s "env(nex)"', "nex is no cell"),
        (".nox/env-nex/bin/python", "nex is no cell"),
        ("cell new torch216 --from torch299 --pin torch==2.16.0", "torch299 is no cell"),
        ("torch==2.12.0", "no cell pins torch==2.12.0; envs/ has 2.13.0, 2.14.1"),
        ("torch===2.12.0.", "no cell pins torch==2.12.0;"),
        ("torch == 2.12.*", "no cell pins torch==2.12.*;"),
        ('pip install "pnnx==20250101"', "no cell pins pnnx==20250101; envs/ has 20261020"),
    ],
)
def test_told(tmp_path: Path, cells: dict[str, Cell], text: str, says: str) -> None:
    (line,) = told(tmp_path, cells, f"first\n{text}\n")
    assert line.startswith(f"README.md:2: {says}")


@pytest.mark.parametrize(
    "text",
    [
        "torch213-tf5, env-torch213-tf5/bin and results/nightly-1-torch213-tf4",
        "`torch213-…`, torch213-* and --cell NAME",
        "--cell next --cell=torch213-tf5 env(next) env({CELL}) --cell ${{ matrix.cell.name }}",
        "cell new torch216-av --from torch213-tf5 --pin torch==2.16.0 --pin=pnnx==3",
        'cell new torch216-av\nrun --cell torch216-av; nox -s "env(torch216-av)"',
        "torch==2.13.0, torch===2.14.1. torch==2.13.* torch>=2.1,<3",
        "torch2.13, torch 2.12.0, pytorch==1.0, my-torch==1, numpy==1.0, platform==win32",
    ],
)
def test_holds(tmp_path: Path, cells: dict[str, Cell], text: str) -> None:
    assert told(tmp_path, cells, text) == []


@pytest.mark.parametrize(
    "place",
    [".github/workflows/a.yml", "CONTRIBUTING.md", "docs/a.md", "docs/b/c.md", "noxfile.py"],
)
def test_places(tmp_path: Path, cells: dict[str, Cell], place: str) -> None:
    (line,) = told(tmp_path, cells, "--cell nex", place)
    assert line.startswith(f"{place}:1: ")


def test_every_place_is_there() -> None:
    assert all(any(ROOT.glob(place)) for place in PLACES)


def test_command(
    tmp_path: Path,
    cells: dict[str, Cell],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(command, "ROOT", tmp_path)
    monkeypatch.setattr(command, "load_cells", lambda: cells)
    assert main(["cell", "check"]) == 0
    assert capsys.readouterr().out == "3 cells, and all mentions of them hold\n"
    (tmp_path / "README.md").write_text("--cell nex\n")
    assert main(["cell", "check"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "README.md:1: nex is no cell of envs/; did you mean next?",
        "1 faults",
    ]
