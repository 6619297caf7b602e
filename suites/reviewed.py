"""The table of the structural differences that were looked at, `suites/structure.toml`.

    [[difference]]
    cases = ["F_dropout"]
    differs = ["pnnx.Expression"]
    reason = "pnnx folds expressions before it removes dropout"

`differs` are parts of the texts of differences; left out, the reason is for all of a case's. Every
difference needs an entry, and every part of an entry a difference.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

TABLE = Path(__file__).with_name("structure.toml")
KEYS = {"cases", "differs", "reason"}


class ReviewError(ValueError):
    """The table is malformed. The text names it and the entry."""


class Reviewed(NamedTuple):
    """Why a case differs in these places; everywhere where `differs` is empty."""

    differs: tuple[str, ...]
    reason: str

    def covers(self, text: str) -> bool:
        """Whether a difference is one of those."""
        return not self.differs or any(part in text for part in self.differs)

    def outdated(self, found: Sequence[str]) -> list[str]:
        """What it says of differences that are not among a case's."""
        if not found:
            return [*self.differs] or ["any difference"]
        return [part for part in self.differs if not any(part in text for text in found)]


def read_reviewed(known: Collection[str], path: Path = TABLE) -> dict[str, list[Reviewed]]:
    """The entries by case. `known` are the names that cases may have. Raises ReviewError."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ReviewError(f"{path.name}: {error}") from None
    if table.keys() - {"difference"} or not isinstance(table.get("difference", []), list):
        raise ReviewError(f"{path.name}: it has other things than [[difference]]")
    found: dict[str, list[Reviewed]] = {}
    for number, entry in enumerate(table.get("difference", []), start=1):
        fault = _fault(entry, known)
        if fault:
            raise ReviewError(f"{path.name}: difference {number}: {fault}")
        reviewed = Reviewed(tuple(entry.get("differs", ())), entry["reason"])
        for case in entry["cases"]:
            found.setdefault(case, []).append(reviewed)
    return found


def _fault(entry: Mapping[str, Any], known: Collection[str]) -> str | None:
    if unknown := entry.keys() - KEYS:
        return f"it has no key {min(unknown)!r}"
    for key in ("cases", "differs"):
        words = entry.get(key, ["."] if key == "differs" else [])
        if not isinstance(words, list) or not words or not all(map(_is_text, words)):
            return f"{key} must be a list of texts"
    if not _is_text(entry.get("reason")):
        return "it needs a reason"
    strange = sorted(set(entry["cases"]) - set(known))
    return f"no case is called {strange[0]}" if strange else None


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def unexplained(found: Sequence[str], reviewed: Sequence[Reviewed]) -> Iterator[str]:
    """What is wrong: differences without an entry, and what entries say of differences there are
    not.
    """
    for text in found:
        if not any(entry.covers(text) for entry in reviewed):
            yield f"without a reason: {text}"
    for entry in reviewed:
        if outdated := entry.outdated(found):
            yield f"no longer so: {', '.join(outdated)} ({entry.reason})"
