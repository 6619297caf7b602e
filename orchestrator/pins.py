"""Whether what is installed in an environment is what its cell pins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion

from orchestrator.cells import Cell


def meets(pin: Requirement, version: str) -> bool:
    """Tell whether a version is the pinned one, as pip means it: `==2.13.0` takes 2.13.0+cpu too,
    `===2.13.0` does not."""
    try:
        return pin.specifier.contains(version, prereleases=True)
    except InvalidVersion:
        return False


def differing(cell: Cell, packages: Mapping[str, str]) -> Iterator[str]:
    """Tell, of each pinned package that differs, what is pinned and what was found.

    `packages` are the versions found, by canonical name.
    """
    for pin in map(Requirement, cell.pins):
        found = packages.get(canonicalize_name(pin.name))
        if found is None:
            yield f"it pins {pin}, and {pin.name} is not installed"
        elif not meets(pin, found):
            yield f"it pins {pin}, and {found} is installed"


def rebuild(cell: Cell, home: Path | None = None) -> str:
    """The mend of an environment that is wrong: `home`, where it is not the one that nox built."""
    built = cell.home()
    if home is not None and home.parent.name != built.parent.name:
        return f"remove {home} there: it is built again"
    return f'rebuild the cell: remove {home or built}, then run: nox -s "{cell.session}"'
