"""One bad cell never ends the others: its trials are without a result, with the cause."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from checkout import TRIAL, Checkout, checkout
from live import CELL

from orchestrator import journal


@pytest.fixture
def made() -> Iterator[Checkout]:
    with checkout() as copy:
        yield copy


def done(folder: Path) -> set[str]:
    return {result.trial.cell for result in journal.read(folder / journal.NAME)}


def causes(folder: Path) -> dict[str, str]:
    """Why cells have no result, as report.json says; run.json must say the same."""
    missing = json.loads((folder / "report.json").read_text())["missing"]
    lost = json.loads((folder / "run.json").read_text())["lost"]
    assert {each["cell"]: each["reason"] for each in lost} == {
        each["cell"]: each["cause"] for each in missing
    }
    return {each["cell"]: each["cause"] for each in missing}


def test_bad_cells_end_no_others_and_are_tried_again(made: Checkout, tmp_path: Path) -> None:
    """One that is not built, two that do not start, and one that is not what it pins."""
    cells = ["unbuilt", "broken", "not-a-program", "other"]
    for name in cells[:3]:
        made.cell(name)
    made.cell("other", transformers="5.0.0")
    made.share("other")
    made.script("broken", "#!/bin/sh\necho 'no such library' >&2\nexit 3\n")
    made.script("not-a-program", "neither a script nor a program\n")
    folder = tmp_path / "run"
    words = [f"--cell={name}" for name in [*cells, CELL]]
    status, printed = made.command.run("run", *words, *TRIAL, "--output", str(folder))
    assert status == 3, printed
    assert "Traceback" not in printed
    assert done(folder) == {CELL}
    told = causes(folder)
    assert set(told) == set(cells)
    assert "cell unbuilt is not built" in told["unbuilt"]
    assert "exit status 3: no such library" in told["broken"]
    assert "Exec format error" in told["not-a-program"]
    assert "it pins transformers==5.0.0, and 5.16.1 is installed" in told["other"]
    assert 'nox -s "env(other)"' in told["other"]
    for form in ("report.md", "junit.xml", "index.html"):
        text = (folder / form).read_text()
        assert all(name in text for name in cells), form
        assert "no such library" in text, form
        assert "and 5.16.1 is installed" in text, form
    assert "4 trials without a result" in printed
    _, shown = made.command.run("show", str(folder), "F_relu6")
    assert "no such library" in shown

    mended = made.root / ".nox" / "env-broken" / "bin" / "python"
    mended.unlink()
    mended.parent.rmdir()
    mended.parent.parent.rmdir()
    made.share("broken")
    status, printed = made.command.run("run", "--resume", str(folder))
    assert status == 3, printed
    assert done(folder) == {CELL, "broken"}
    assert set(causes(folder)) == set(cells) - {"broken"}


@pytest.mark.parametrize("build", [True, False])
def test_where_no_cell_can_be_used_nothing_is_left(
    made: Checkout, tmp_path: Path, build: bool
) -> None:
    made.cell("bad")
    made.cell("unbuilt")
    if build:
        made.script("bad", "#!/bin/sh\nexit 3\n")
    folder = tmp_path / "run"
    words = ["run", "--cell=bad", "--cell=unbuilt", *TRIAL, "--output", str(folder)]
    status, printed = made.command.run(*words)
    assert status == 2, printed
    (line,) = (line for line in printed.splitlines() if line.startswith("pnnx-parity: "))
    assert "bad" in line
    assert "cell unbuilt is not built" in line
    assert not folder.exists()

    status, printed = made.command.run(*words, "--keep-going")
    assert status == 3, printed
    assert "cell unbuilt is not built" in causes(folder)["unbuilt"]
    assert set(causes(folder)) == {"bad", "unbuilt"}
    assert "2 trials without a result" in printed
