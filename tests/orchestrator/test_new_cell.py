"""`cell new`: a cell's file from another's, or one clear line and no file."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.cells import Cell, CellError, load_cell, load_cells
from orchestrator.cli import main
from orchestrator.commands import cell as command
from orchestrator.new_cell import write_cell

OTHER = """\
# What stands above.
description = "torch 2.14, \\"with\\" the others"
python = ">=3.11"
reference = true
# "torch===2.14.1" is PyPI's own build.
pins = [
    "torch===2.14.1", # not "torch===2.14.1"
    'torchvision===0.29.1',
    "PNNX==20261020",
]

[env]
OMP_NUM_THREADS = "1"
"""

BASED = """\
description = "other variables"
base = "torch214-av"
"""


@pytest.fixture
def cells(tmp_path: Path) -> dict[str, Cell]:
    (tmp_path / "torch214-av.toml").write_text(OTHER, encoding="utf-8")
    (tmp_path / "torch214-based.toml").write_text(BASED, encoding="utf-8")
    return load_cells(tmp_path)


def test_only_pins_and_description_differ(cells: dict[str, Cell], tmp_path: Path) -> None:
    pins = ["torch==2.15.0", "TorchVision===0.30.0", "pnnx==20261130"]
    made = write_cell(cells, "torch215-av", "torch214-av", pins, 'torch "2.15" — newer')
    assert made == load_cells(tmp_path)["torch215-av"]
    text = (tmp_path / "torch215-av.toml").read_text(encoding="utf-8")
    assert text == (
        OTHER.replace('torch 2.14, \\"with\\" the others', 'torch \\"2.15\\" — newer')
        .replace("reference = true\n", "")
        .replace('    "torch===2.14.1"', '    "torch===2.15.0"')
        .replace("'torchvision===0.29.1'", '"torchvision===0.30.0"')
        .replace("PNNX==20261020", "PNNX==20261130")
    )


def test_a_description_that_nobody_gave_says_what_differs(cells: dict[str, Cell]) -> None:
    made = write_cell(cells, "torch215-av", "torch214-av", ["torch==2.15.0"], None)
    assert made.description == "torch214-av with torch===2.15.0"


def test_two_equals_become_three_where_asked(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(OTHER.replace("===", "=="), encoding="utf-8")
    made = write_cell(load_cells(tmp_path), "b", "a", ["torch===2.15.0"], None)
    assert made.pins == ("torch===2.15.0", "torchvision==0.29.1", "PNNX==20261020")


def test_pins_on_one_line(tmp_path: Path) -> None:
    text = 'description = "a"\npython = ">=3.11"\npins = ["torch==2.1", "numpy==2.1"]'
    (tmp_path / "a.toml").write_text(text, encoding="utf-8")
    made = write_cell(load_cells(tmp_path), "b", "a", ["numpy==2.2"], None)
    assert made.pins == ("torch==2.1", "numpy==2.2")


@pytest.mark.parametrize(
    ("name", "source", "pins", "says"),
    [
        ("torch214-av", "torch214-av", ["torch==2.15.0"], "there is a cell 'torch214-av': .*toml;"),
        ("Torch215", "torch214-av", ["torch==2.15.0"], "cannot name a cell; use small letters"),
        ("../torch215", "torch214-av", ["torch==2.15.0"], "cannot name a cell; use small letters"),
        ("torch215", "torch214", ["torch==2.15.0"], "unknown cell 'torch214'; did you mean"),
        ("torch215", "torch214-av", ["torche==2.15.0"], "pins no 'torche'; did you mean torch"),
        ("torch215", "torch214-av", ["numpy==2.15.0"], "pins no 'numpy'; there are: pnnx, torch"),
        ("torch215", "torch214-av", ["torch>=2.15.0"], "not an exact version; pin one exact"),
        ("torch215", "torch214-av", ["torch==2.15.*"], "not an exact version; pin one exact"),
        ("torch215", "torch214-av", ["torch"], "not an exact version; pin one exact"),
        ("torch215", "torch214-av", ["torch 2.15"], "not a requirement; pin one exact"),
        ("torch215", "torch214-av", ["torch==2.15", "Torch==2.16"], "torch is pinned twice"),
        ("torch215", "torch214-av", ["torch==2.14.1"], 'no pin differs .*: base = "torch214-av"'),
        ("torch215", "torch214-based", ["torch==2.15"], "no pins of its own.*--from torch214-av"),
    ],
)
def test_refused(
    cells: dict[str, Cell], tmp_path: Path, name: str, source: str, pins: list[str], says: str
) -> None:
    with pytest.raises(CellError, match=says) as caught:
        write_cell(cells, name, source, pins, None)
    assert "\n" not in str(caught.value)
    _only_the_others_are_there(tmp_path)


@pytest.mark.parametrize("description", ["two\nlines", " ", "\udc80"])
def test_a_description_is_one_line(
    cells: dict[str, Cell], tmp_path: Path, description: str
) -> None:
    with pytest.raises(CellError, match="give one line of text"):
        write_cell(cells, "torch215", "torch214-av", ["torch==2.15"], description)
    _only_the_others_are_there(tmp_path)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"torch===2.14.1", #', '"\\u0074orch===2.14.1", #'),
        ("description = ", "'description' = "),
        ('"torch 2.14, \\"with\\" the others"', '"""torch\n2.14"""'),
    ],
)
def test_a_file_that_cannot_be_edited_is_told(tmp_path: Path, old: str, new: str) -> None:
    assert old in OTHER
    file = tmp_path / "torch214-av.toml"
    file.write_text(OTHER.replace(old, new), encoding="utf-8")
    with pytest.raises(CellError, match=r"not plain texts of one line each.*write them so"):
        write_cell(load_cells(tmp_path), "torch215", "torch214-av", ["torch==2.15"], None)
    assert list(tmp_path.iterdir()) == [file]


def _only_the_others_are_there(folder: Path) -> None:
    assert {file.stem for file in folder.iterdir()} == {"torch214-av", "torch214-based"}


def test_command(
    cells: dict[str, Cell],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(command, "load_cells", lambda: load_cells(tmp_path))
    words = ["cell", "new", "torch215-av", "--from", "torch214-av", "--pin", "torch==2.15.0"]
    assert main(words) == 0
    file = tmp_path / "torch215-av.toml"
    assert load_cell(file).pins == ("torch===2.15.0", *cells["torch214-av"].pins[1:])
    assert capsys.readouterr().out.splitlines() == [
        f"{file}: torch===2.15.0",
        "as in torch214-av: torchvision===0.29.1, PNNX==20261020",
        'build it with: nox -s "env(torch215-av)"',
    ]
    assert main(words) == 2
    assert capsys.readouterr().err.startswith("pnnx-parity: there is a cell 'torch215-av': ")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["cell"], "the following arguments are required: ACTION; see pnnx-parity cell --help"),
        (["cell", "knew"], "invalid choice: 'knew'"),
        (["cell", "new", "a", "--from", "b"], "required: --pin; see pnnx-parity cell new --help"),
        (["cell", "check", "--form"], "unknown argument '--form'"),
    ],
)
def test_wrong_words(words: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert says in line
