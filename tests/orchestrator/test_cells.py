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
    assert read.covers(("transformers", "transformers/bert"))
    assert not read.covers(("functional", "functional/linear"))


def test_files_of_a_suite(tmp_path: Path) -> None:
    text = GOOD.replace('["transformers"]', '["models", "torch_ops/fourier"]')
    read = load_cell(write(tmp_path, text))
    assert read.covers(("models", "models/torchvision"))
    assert read.covers(("torch_ops", "torch_ops/fourier"))
    assert not read.covers(("torch_ops", "torch_ops/shape"))


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


BORROWING = """\
description = "other variables"
base = "mine"
[env]
MKL_ENABLE_INSTRUCTIONS = "AVX2"
"""


def test_a_base_lends_its_pins_and_its_environment(tmp_path: Path) -> None:
    base = cell(tmp_path)
    file = tmp_path / "borrowing.toml"
    file.write_text(BORROWING)
    read = load_cell(file)
    assert (read.pins, read.python) == (base.pins, base.python)
    assert (read.home(), read.session) == (base.home(), base.session)
    assert read.env == {"MKL_ENABLE_INSTRUCTIONS": "AVX2"}
    assert read.suites is None
    assert read.name == "borrowing"


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ('"mine"', '"mime"', 2, "base is 'mime', no other cell; did you mean mine?"),
        ('"mine"', '"borrowing"', 2, "base is 'borrowing', no other cell"),
        ('"mine"', '"chained"', 2, "base is 'chained', which has a base itself"),
        ('"mine"', '"../envs/mine"', 2, "no other cell"),
        (
            "[env]",
            'pins = ["torch==2.12.0"]\n[env]',
            3,
            "both base and 'pins' are given; mine has it",
        ),
        ("[env]", 'python = ">=3.12"\n[env]', 3, "both base and 'python' are given; mine has it"),
    ],
)
def test_wrong_bases(tmp_path: Path, old: str, new: str, line: int, says: str) -> None:
    cell(tmp_path)
    (tmp_path / "chained.toml").write_text(BORROWING)
    file = tmp_path / "borrowing.toml"
    file.write_text(BORROWING.replace(old, new))
    with pytest.raises(CellError) as caught:
        load_cell(file)
    assert str(caught.value).startswith(f"{file}:{line}: ")
    assert says in str(caught.value)


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
    own = {cell.environment for cell in cells.values()}
    assert own <= set(cells)
    assert {"torch213-tf5", "torch213-tf4", "torch213-av", "torch214-av"} <= own
    for each in cells.values():
        assert {"torch", "transformers", "pnnx", "ncnn"} <= set(each.versions)
        if each.has("torchvision"):
            trio = [pin for pin in each.pins if pin.startswith("torch")]
            assert len(trio) == 3
            assert all("===" in pin for pin in trio)
    assert cells["torch213-mkl-native-threads"].env == {}
    variables = ("MKL_ENABLE_INSTRUCTIONS", "OMP_NUM_THREADS")
    mkl = {
        tuple(cell.env.get(name) for name in variables)
        for cell in cells.values()
        if cell.environment == "torch213-av"
    }
    assert mkl == {
        (kernels, threads) for kernels in (None, "SSE4_2", "AVX2") for threads in (None, "1")
    }
