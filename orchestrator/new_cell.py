"""A new cell, written from another's file: other pins, another description, the rest as it is."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from orchestrator.cells import Cell, CellError, exact_pin, load_cell, pick
from orchestrator.errors import nearest
from orchestrator.files import write_whole

NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
"""A cell's name is a file's, a folder's and a nox session's, on every system."""


def write_cell(
    cells: Mapping[str, Cell], name: str, source: str, pins: Iterable[str], description: str | None
) -> Cell:
    """Write a cell that differs from `source` in these pins, beside it. Raises CellError."""
    _check_name(cells, name)
    (other,) = pick(cells, [source])
    wanted = changed(other, pins)
    line = description or f"{source} with {', '.join(new for old, new in wanted if old != new)}"
    if not line.isprintable() or not line.strip():
        raise CellError(f"description is {line!r}; give one line of text")
    file = other.file.with_name(f"{name}.toml")
    write_whole(file, "".join(_edited(other.file, wanted, line)))
    return _proven(file, tuple(new for _, new in wanted), line, other.file)


def _check_name(cells: Mapping[str, Cell], name: str) -> None:
    if not NAME.fullmatch(name):
        raise CellError(
            f"{name!r} cannot name a cell; use small letters, digits and hyphens: torch215-av"
        )
    if name in cells:
        raise CellError(
            f"there is a cell {name!r}: {cells[name].file}; take another name, or edit that file"
        )


def changed(other: Cell, pins: Iterable[str]) -> list[tuple[str, str]]:
    """Return each of a cell's pins with the one that takes its place. Raises CellError.

    `==` in a new pin leaves the other's `===` as it is: builds that belong together stay so.
    """
    if other.base:
        raise CellError(
            f"cell {other.name} has no pins of its own, it shares those of {other.base};"
            f" give: --from {other.base}"
        )
    old = {canonicalize_name(Requirement(pin).name): pin for pin in other.pins}
    new: dict[str, str] = {}
    for pin in pins:
        asked = exact_pin(pin)
        name = canonicalize_name(asked.name)
        if name not in old:
            raise CellError(f"cell {other.name} pins no {asked.name!r}; {nearest(name, old)}")
        if name in new:
            raise CellError(f"{name} is pinned twice ({new[name]}, {pin}); keep one")
        new[name] = _like(old[name], asked)
    if all(new.get(name, pin) == pin for name, pin in old.items()):
        raise CellError(
            f"no pin differs from those of cell {other.name}; for a cell that differs in its"
            f' variables alone, write a file with: base = "{other.name}"'
        )
    return [(pin, new.get(name, pin)) for name, pin in old.items()]


def _like(old: str, asked: Requirement) -> str:
    """Return the pin that is asked for, spelled as the one that it takes the place of."""
    package = Requirement(old).name
    (specifier,) = asked.specifier
    operator = "===" if "===" in old else specifier.operator
    return f"{package}{operator}{specifier.version}"


def _edited(file: Path, pins: Iterable[tuple[str, str]], description: str) -> Iterator[str]:
    """Yield a cell's lines with other pins and description; no other cell is the reference."""
    for line in file.read_text(encoding="utf-8").splitlines(keepends=True):
        if re.match(r"reference\s*=", line):
            continue
        if re.match(r"description\s*=", line):
            yield f"description = {json.dumps(description, ensure_ascii=False)}\n"
            continue
        code, mark, comment = line.partition("#")
        for old, new in pins:
            code = re.sub(rf"""(["']){re.escape(old)}\1""", f'"{new}"', code)
        yield code + mark + comment


def _proven(file: Path, pins: tuple[str, ...], description: str, source: Path) -> Cell:
    """Read the new file; remove it where it does not say what was asked for. Raises CellError."""
    with contextlib.suppress(CellError):
        cell = load_cell(file)
        if (cell.pins, cell.description, cell.reference) == (pins, description, False):
            return cell
    file.unlink()
    raise CellError(
        f"{source}: its description or pins are not plain texts of one line each, to be replaced;"
        " write them so, as the other cells do"
    )
