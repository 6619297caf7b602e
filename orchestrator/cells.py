"""Cells: the environments of the matrix, read from `envs/*.toml`.

Needs the standard library and packaging only, because noxfile.py imports it in nox's own Python.

A cell's file is named after the cell and holds

    description = "one line for people"
    python = ">=3.11"                  # the Pythons it installs on, as PEP 440 specifiers
    pins = ["torch==2.13.0", ...]      # what pip installs: exact versions, `==` or `===`
    suites = ["models", "torch_ops/fourier"]  # optional: the only suites, or files of a suite
    reference = true                   # in one cell: the parity tracker speaks of it
    [env]                              # optional: environment variables of its runners
    OMP_NUM_THREADS = "1"

A cell that differs from another in its variables alone says `base = "torch213-av"` in the place of
`python` and `pins`: it has the same ones, and runs in the environment that was built for that cell.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, Specifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from orchestrator.errors import UsageError, nearest
from suites.system import system

ROOT = Path(__file__).resolve().parent.parent
"""The checkout: where envs/, .nox/ and results/ are."""

GOVERNED = ("OMP_", "MKL_", "KMP_", "CUDA")
"""Environment variables with these beginnings come from the cell alone."""

OLDEST_MINOR = 11
"""Of the Pythons that the orchestrator and its cells run on: 3.11."""

KEYS = ("description", "base", "python", "pins", "suites", "reference", "env")
REQUIRED = ("description", "python", "pins")
BORROWED = ("python", "pins")
"""What a cell with a base has from there."""


class CellError(UsageError):
    """A cell's file is wrong, or the cell is unknown or not built."""


@dataclass(frozen=True)
class Cell:
    """One environment of the matrix."""

    name: str
    description: str
    python: SpecifierSet
    pins: tuple[str, ...]
    suites: tuple[str, ...] | None
    """The suites, or files of a suite, that it covers; None means every one."""
    env: Mapping[str, str]
    file: Path
    reference: bool = False
    base: str = ""
    """The cell in whose environment it runs; empty where it has one of its own."""

    @cached_property
    def versions(self) -> Mapping[str, Version]:
        """The pinned version of each package, by canonical name."""
        pins = map(Requirement, self.pins)
        return {
            canonicalize_name(pin.name): Version(next(iter(pin.specifier)).version) for pin in pins
        }

    def has(self, need: str) -> bool:
        """Tell whether the pins meet a requirement (`torchvision`, `transformers>=4.50`)."""
        requirement = Requirement(need)
        version = self.versions.get(canonicalize_name(requirement.name))
        return version is not None and requirement.specifier.contains(version, prereleases=True)

    def lacks(self, needs: Iterable[str]) -> list[str]:
        """List the requirements that the pins do not meet."""
        return [need for need in needs if not self.has(need)]

    def covers(self, parts: Iterable[str]) -> bool:
        """Tell whether it covers a case of this suite and file: `models`, `models/torchvision`."""
        return self.suites is None or not set(parts).isdisjoint(self.suites)

    def environ(self, base: Mapping[str, str]) -> dict[str, str]:
        """Return a runner's environment: `base`, but thread and device variables of the cell alone.

        Ray, CI and shells set some of them (`OMP_NUM_THREADS=1` in every actor); inherited, they
        would make a cell mean different things on different machines.
        """
        kept = {name: value for name, value in base.items() if not name.startswith(GOVERNED)}
        return kept | dict(self.env)

    @property
    def oldest_python(self) -> str:
        """The first Python from this project's own on that the cell installs on, such as `3.12`.

        Raises CellError where there is none.
        """
        minors = range(OLDEST_MINOR, OLDEST_MINOR + 20)
        for minor in minors:
            if f"3.{minor}.99" in self.python:
                return f"3.{minor}"
        raise CellError(f"{self.file}: no Python from 3.{OLDEST_MINOR} on is {self.python}")

    @property
    def environment(self) -> str:
        """The name of the cell that the environment was built for."""
        return self.base or self.name

    @property
    def session(self) -> str:
        """The nox session that builds the cell's environment."""
        return f"env({self.environment})"

    def home(self, root: Path = ROOT) -> Path:
        """Return the folder of the environment that nox builds."""
        return root / ".nox" / f"env-{self.environment}"

    def python_path(self, root: Path = ROOT) -> Path:
        """Return the cell's Python, in the environment that nox built. Raises CellError."""
        path = system.python(self.home(root))
        if not path.exists():
            raise CellError(
                f'cell {self.name} is not built: {path} is missing; run: nox -s "{self.session}"'
            )
        return path


def load_cell(file: Path) -> Cell:
    """Read one cell's file. Raises CellError, which names the file, the line and the mend."""
    return _Reader(file, *_parse(file)).cell()


def _parse(file: Path) -> tuple[str, dict[str, Any]]:
    try:
        text = file.read_text(encoding="utf-8")
        return text, tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise CellError(f"{file}: not TOML: {error}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise CellError(f"{file}: not readable: {error}") from None


def load_cells(folder: Path = ROOT / "envs") -> dict[str, Cell]:
    """Read every cell, by name. Raises CellError, also if there is none."""
    files = sorted(folder.glob("*.toml"))
    if not files:
        raise CellError(
            f"{folder}: no cell (*.toml) there; install from a checkout: pip install -e ."
        )
    return {file.stem: load_cell(file) for file in files}


def reference(cells: Mapping[str, Cell]) -> Cell:
    """Return the one cell that says `reference = true`. Raises CellError."""
    found = [cell for cell in cells.values() if cell.reference]
    if len(found) != 1:
        names = ", ".join(cell.name for cell in found) or "none"
        raise CellError(f"{names} of envs/ says `reference = true`; one cell must")
    return found[0]


def pick(cells: Mapping[str, Cell], names: Iterable[str]) -> list[Cell]:
    """Return the cells of these names, each once, in this order. Raises CellError."""
    chosen: dict[str, Cell] = {}
    for name in names:
        if name not in cells:
            raise CellError(f"unknown cell {name!r}; {nearest(name, cells)}")
        chosen[name] = cells[name]
    return list(chosen.values())


def exact_pin(pin: str) -> Requirement:
    """Read a pin of one exact version. Raises CellError."""
    mend = 'pin one exact version: "name==1.2.3" (or === to refuse local builds such as +cpu)'
    try:
        requirement = Requirement(pin)
    except InvalidRequirement:
        raise CellError(f"pin {pin!r} is not a requirement; {mend}") from None
    specifiers: list[Specifier] = list(requirement.specifier)
    exact = len(specifiers) == 1 and specifiers[0].operator in ("==", "===")
    if not exact or requirement.marker or requirement.url or requirement.extras:
        raise CellError(f"pin {pin!r} is not an exact version; {mend}")
    try:
        Version(specifiers[0].version)
    except InvalidVersion:
        raise CellError(f"pin {pin!r} is not an exact version; {mend}") from None
    return requirement


class _Reader:
    """Checks one file's data, key by key; knows where in the text each value stands."""

    def __init__(self, file: Path, text: str, data: Mapping[str, Any]) -> None:
        self.file = file
        self.lines = text.splitlines()
        self.data = data

    def cell(self) -> Cell:
        for key in self.data:
            if key not in KEYS:
                raise self.error(key, f"unknown key {key!r}", nearest(key, KEYS))
        base = self.base() if "base" in self.data else None
        for key in REQUIRED:
            if key not in self.data and not (base and key in BORROWED):
                raise CellError(f"{self.file}: no {key!r}; add it, as the other cells have it")
        return Cell(
            name=self.file.stem,
            description=self.string("description"),
            python=base.python if base else self.specifiers("python"),
            pins=base.pins if base else self.pins(),
            suites=self.strings("suites") if "suites" in self.data else None,
            env=self.env(),
            file=self.file,
            reference=self.flag("reference"),
            base=base.name if base else "",
        )

    def base(self) -> Cell:
        """Return the cell whose environment this one shares."""
        name = self.string("base")
        for key in BORROWED:
            if key in self.data:
                raise self.error(key, f"both base and {key!r} are given", f"{name} has it: drop it")
        others = {file.stem for file in self.file.parent.glob("*.toml")} - {self.file.stem}
        if name not in others:
            raise self.error("base", f"base is {name!r}, no other cell", nearest(name, others))
        other = self.file.with_name(f"{name}.toml")
        text, data = _parse(other)
        if "base" in data:  # following it could go in circles
            raise self.error(
                "base", f"base is {name!r}, which has a base itself", "give that one here"
            )
        return _Reader(other, text, data).cell()

    def error(self, needle: str, what: str, mend: str) -> CellError:
        """Make an error that points at a key or value."""
        return CellError(f"{self.place(needle)}: {what}; {mend}")

    def place(self, needle: str) -> str:
        """Return the file, and the line where the key or value `needle` stands."""
        texts = [line.partition("#")[0].lstrip(' "[') for line in self.lines]
        starts = [number for number, text in enumerate(texts, 1) if text.startswith(needle)]
        holds = [number for number, text in enumerate(texts, 1) if needle in text]
        lines = starts or holds
        return f"{self.file}:{lines[0]}" if lines else str(self.file)

    def string(self, key: str) -> str:
        value = self.data[key]
        if not isinstance(value, str) or not value.strip():
            raise self.error(key, f"{key} is {value!r}", 'give it as text: "..."')
        return value

    def strings(self, key: str) -> tuple[str, ...]:
        value = self.data[key]
        if not isinstance(value, list) or not value or not all(isinstance(v, str) for v in value):
            raise self.error(key, f"{key} is {value!r}", 'give a list of texts: ["...", "..."]')
        for item in value:
            if value.count(item) > 1:
                raise self.error(item, f"{key} has {item!r} twice", "keep one of them")
        return tuple(value)

    def flag(self, key: str) -> bool:
        value = self.data.get(key, False)
        if not isinstance(value, bool):
            raise self.error(key, f"{key} is {value!r}", "give true or false")
        return value

    def specifiers(self, key: str) -> SpecifierSet:
        text = self.string(key)
        try:
            return SpecifierSet(text)
        except InvalidSpecifier:
            raise self.error(
                key, f"{key} is {text!r}", 'give PEP 440 specifiers, such as ">=3.11,<3.14"'
            ) from None

    def pins(self) -> tuple[str, ...]:
        pins = self.strings("pins")
        seen: dict[str, str] = {}
        for pin in pins:
            name = self.pinned(pin)
            if name in seen:
                raise self.error(pin, f"{name} is pinned twice ({seen[name]}, {pin})", "keep one")
            seen[name] = pin
        if "torch" not in seen:
            raise self.error("pins", "no pin for torch", 'add one, such as "torch==2.13.0"')
        return pins

    def pinned(self, pin: str) -> str:
        """Return the canonical name of what a pin pins. Raises CellError for an inexact pin."""
        try:
            return canonicalize_name(exact_pin(pin).name)
        except CellError as error:
            raise CellError(f"{self.place(pin)}: {error}") from None

    def env(self) -> dict[str, str]:
        table = self.data.get("env", {})
        if not isinstance(table, dict):
            raise self.error("env", f"env is {table!r}", "give a table: [env]")
        for name, value in table.items():
            if not isinstance(value, str):
                raise self.error(name, f"{name} is {value!r}", f'give it as text: {name} = "..."')
        return dict(table)
