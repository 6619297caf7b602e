"""Cells: what their files mean, and one clear line for each way to get one wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.cells import Cell, CellError, load_cell, load_cells, pick

GOOD = """\
description = "a cell"
python = ">=3.11"
pins = [
    "torch==2.13.0",
    "transformers===5.16.1",
]
suites = ["transformers"]

[env]
OMP_NUM_THREADS = "2"
"""


def write(folder: Path, text: str) -> Path:
    file = folder / "mine.toml"
    file.write_text(text)
    return file


def cell(folder: Path) -> Cell:
    return load_cell(write(folder, GOOD))


def test_cell(tmp_path: Path) -> None:
    read = cell(tmp_path)
    assert read.name == "mine"
    assert read.description == "a cell"
    assert "3.12" in read.python
    assert {name: str(version) for name, version in read.versions.items()} == {
        "torch": "2.13.0",
        "transformers": "5.16.1",
    }
    assert read.covers("transformers")
    assert not read.covers("functional")


def test_needs(tmp_path: Path) -> None:
    read = cell(tmp_path)
    assert read.has("transformers>=5")
    assert not read.has("transformers<5")
    assert read.lacks(["torch", "torchvision", "transformers<5"]) == [
        "torchvision",
        "transformers<5",
    ]


def test_environ_is_the_cells_alone(tmp_path: Path) -> None:
    inherited = {
        "PATH": "/bin",
        "OMP_NUM_THREADS": "1",
        "OMP_SCHEDULE": "static",
        "MKL_NUM_THREADS": "1",
        "KMP_AFFINITY": "none",
        "CUDA_VISIBLE_DEVICES": "",
        "CUDA_LAUNCH_BLOCKING": "1",
    }
    assert cell(tmp_path).environ(inherited) == {"PATH": "/bin", "OMP_NUM_THREADS": "2"}


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ("[env]", "[envs]", 9, "unknown key 'envs'; did you mean env"),
        ('"a cell"', "3", 1, "description is 3; give it as text"),
        ('">=3.11"', '"3.11"', 2, "python is '3.11'; give PEP 440 specifiers"),
        ('"torch==2.13.0"', '"torch>=2.13.0"', 4, "'torch>=2.13.0' is not an exact version"),
        ('"torch==2.13.0"', '"torch==2.13.*"', 4, "'torch==2.13.*' is not an exact version"),
        ('"torch==2.13.0"', '"torch"', 4, "'torch' is not an exact version"),
        ('"torch==2.13.0"', '"torch 2.13"', 4, "'torch 2.13' is not a requirement"),
        ('"torch==2.13.0"', '"torch[opt]==2.13"', 4, "is not an exact version"),
        ('"torch==2.13.0"', '"numpy==2.0"', 3, "no pin for torch; add one"),
        ('"transformers===5.16.1"', '"Torch==2.12"', 5, "torch is pinned twice"),
        ('["transformers"]', '"transformers"', 7, "suites is 'transformers'; give a list"),
        ('["transformers"]', "[]", 7, "suites is []; give a list"),
        ('["transformers"]', '["nn", "nn"]', 7, "suites has 'nn' twice"),
        ('OMP_NUM_THREADS = "2"', "OMP_NUM_THREADS = 2", 10, 'OMP_NUM_THREADS = "..."'),
        ('OMP_NUM_THREADS = "2"', "OMP_NUM_THREADS = ", None, "line 10"),
    ],
)
def test_error_names_file_line_and_mend(
    tmp_path: Path, old: str, new: str, line: int | None, says: str
) -> None:
    assert old in GOOD
    file = write(tmp_path, GOOD.replace(old, new))
    with pytest.raises(CellError) as caught:
        load_cell(file)
    message = str(caught.value)
    assert message.startswith(f"{file}:{line}: " if line else f"{file}: ")
    assert says in message
    assert "\n" not in message


@pytest.mark.parametrize("key", ["description", "python", "pins"])
def test_required_keys(tmp_path: Path, key: str) -> None:
    lines = ['description = "a"', 'python = ">=3.11"', 'pins = ["torch==2.13.0"]']
    assert load_cell(write(tmp_path, "\n".join(lines))).suites is None
    left = [line for line in lines if not line.startswith(key)]
    with pytest.raises(CellError, match=f"no '{key}'"):
        load_cell(write(tmp_path, "\n".join(left)))


def test_no_cells(tmp_path: Path) -> None:
    with pytest.raises(CellError, match="no cell"):
        load_cells(tmp_path)


def test_unreadable(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(CellError, match="not readable"):
        load_cell(file)


def test_pick_keeps_order_and_suggests() -> None:
    cells = load_cells()
    names = ["torch213-av", "torch213-tf5", "torch213-av"]
    assert [picked.name for picked in pick(cells, names)] == ["torch213-av", "torch213-tf5"]
    with pytest.raises(CellError, match="unknown cell 'torch213-tf6'; did you mean torch213-tf"):
        pick(cells, ["torch213-tf6"])


def test_python_path(tmp_path: Path) -> None:
    read = cell(tmp_path)
    with pytest.raises(CellError, match=r'not built.*nox -s "env\(mine\)"'):
        read.python_path(tmp_path)
    python = tmp_path / ".nox" / "env-mine" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.touch()
    assert read.python_path(tmp_path) == python


def test_the_matrix() -> None:
    """The cells that the project ships; the trio is of one build, and so pinned with `===`."""
    cells = load_cells()
    assert set(cells) == {
        "torch213-tf5",
        "torch213-tf4",
        "torch213-av",
        "torch214-av",
        "torch213-mkl-native",
    }
    for each in cells.values():
        assert {"torch", "transformers", "pnnx", "ncnn"} <= set(each.versions)
        if each.has("torchvision"):
            trio = [pin for pin in each.pins if pin.startswith("torch")]
            assert len(trio) == 3
            assert all("===" in pin for pin in trio)
    assert cells["torch213-mkl-native"].env == {}
