"""Cells and pins that workflows and documents mention: `envs/` alone says which there are."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from orchestrator.cells import Cell
from orchestrator.errors import nearest

PLACES = (
    ".github/workflows/*.yml",
    "README.md",
    "CONTRIBUTING.md",
    "docs/**/*.md",
    "noxfile.py",
)

CELL = re.compile(
    r"(?:--cell[= ]|\benv-)(?P<option>[a-z][a-z0-9-]*)"
    r"|\benv\((?P<session>[a-z][a-z0-9-]*)\)"
    r"|(?<![\w.])(?P<word>torch\d{2,}[a-z0-9]*(?:-[a-z0-9]+)*(?:-[*…])?)"
)
"""A cell by what it is an argument of, or by its looks: `torch213-av`, `torch213-mkl-…`."""

MADE = re.compile(r"\bcell new ([a-z0-9-]+)")
"""A cell that a document makes; the rest of it may speak of that."""

NEW_PIN = re.compile(r"--pin[ =]\S+")


def faults(root: Path, cells: Mapping[str, Cell]) -> Iterator[str]:
    """Yield a line for each mention of a cell or pin that there is none of: file:line, mend."""
    pinned = _pinned(cells)
    for place in PLACES:
        for file in sorted(root.glob(place)):
            text = file.read_text(encoding="utf-8", errors="replace")
            names = [*cells, *MADE.findall(text)]
            for number, line in enumerate(text.splitlines(), 1):
                for fault in (*_cells(line, names), *_pins(NEW_PIN.sub("", line), pinned)):
                    yield f"{file.relative_to(root).as_posix()}:{number}: {fault}"


def _pinned(cells: Mapping[str, Cell]) -> dict[str, set[str]]:
    """The versions of each package that the cells pin."""
    versions: dict[str, set[str]] = {}
    for cell in cells.values():
        for package, version in cell.versions.items():
            versions.setdefault(package, set()).add(str(version))
    return versions


def _cells(line: str, names: Collection[str]) -> Iterator[str]:
    for found in CELL.finditer(line):
        name = str(found["option"] or found["session"] or found["word"])
        if not any(fnmatchcase(known, name.replace("…", "*")) for known in names):
            yield f"{name} is no cell of envs/; {nearest(name, names)}"


def _pins(line: str, pinned: Mapping[str, set[str]]) -> Iterator[str]:
    packages = "|".join(map(re.escape, sorted(pinned)))
    for package, text in re.findall(rf"(?<![\w.-])({packages}) *={{2,3}} *(\d[\w.*+!]*)", line):
        version = text.rstrip(".")
        if not _is_pinned(version, pinned[package]):
            yield (
                f"no cell pins {package}=={version}; envs/ has"
                f" {', '.join(sorted(pinned[package]))}: name one of these, or write a cell that"
                " does: pnnx-parity cell new"
            )


def _is_pinned(version: str, versions: set[str]) -> bool:
    try:
        return any(SpecifierSet(f"=={version}").filter(versions))
    except InvalidSpecifier:
        return False
