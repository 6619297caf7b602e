"""What differs between cells, and which versions tell the cells apart."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

from packaging.version import InvalidVersion, Version

from orchestrator.expectations import Facts
from orchestrator.expectations.facts import MARKERS
from orchestrator.report.model import VERDICTS, Difference, Row, Side

PACKAGES = ("torch", "torchvision", "torchaudio", "transformers", "pnnx", "ncnn", "numpy")
"""Those whose versions are told; what else a cell has came with them."""


def differences(
    rows: Sequence[Row], kinds: Sequence[str], facts: Mapping[str, Facts]
) -> list[Difference]:
    """The cases that came to different things in the cells that have them, those with the worst
    verdict first.

    `kinds` says for each row what it came to (rows of one kind are alike); `facts` are by the
    cell's label. Paths are told together where what came and the verdicts on it are the same.
    """
    trials: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    for number, row in enumerate(rows):
        trials[row.case, row.path][row.cell] = number
    alike: dict[Hashable, list[tuple[str, str]]] = defaultdict(list)
    for (case, path), cells in trials.items():
        came = [(cell, kinds[number], rows[number].verdict) for cell, number in cells.items()]
        if len({kind for _, kind, _ in came}) > 1:
            alike[case, tuple(came)].append((case, path))
    found = [
        Difference(
            case=same[0][0],
            paths=[path for _, path in same],
            sides=_sides(trials[same[0]], kinds, facts),
        )
        for same in alike.values()
    ]
    return sorted(found, key=lambda difference: worst(difference, rows))


def worst(difference: Difference, rows: Sequence[Row]) -> int:
    """The place of its worst verdict in VERDICTS."""
    return min(VERDICTS.index(rows[n].verdict) for side in difference.sides for n in side.rows)


def _sides(
    cells: Mapping[str, int], kinds: Sequence[str], facts: Mapping[str, Facts]
) -> list[Side]:
    groups: dict[str, list[str]] = defaultdict(list)
    for cell, number in cells.items():
        groups[kinds[number]].append(cell)
    sides = [
        Side(
            cells=inside,
            rows=[cells[cell] for cell in inside],
            where=[
                str(condition)
                for condition in apart(
                    [facts[cell] for cell in inside],
                    [facts[cell] for cell in cells if cell not in inside],
                )
            ],
        )
        for inside in groups.values()
    ]
    return sorted(sides, key=lambda side: -len(side.cells))


class Condition(NamedTuple):
    """Something that holds in each of some cells and in none of the others."""

    name: str
    sign: str
    """`≥`, `≤`, `is`, `with`, `without`."""
    value: str = ""

    def __str__(self) -> str:
        if self.value:
            return f"{self.name} {self.sign} {self.value}"
        return f"{self.sign} {self.name}"

    @property
    def when(self) -> str:
        """As an expectation says it; empty for what it cannot say."""
        if self.sign == "without":
            return ""
        signs = {"≥": ">=", "≤": "<=", "is": "==", "with": ">="}
        return f"{self.name}{signs[self.sign]}{self.value or 0}"


def apart(own: Sequence[Facts], others: Sequence[Facts]) -> list[Condition]:
    """What holds in each of some cells and in none of the others."""
    found = [_by_version(package, own, others) for package in PACKAGES]
    found += [_by_marker(marker, own, others) for marker in MARKERS]
    return [condition for condition in found if condition]


def _by_version(package: str, own: Sequence[Facts], others: Sequence[Facts]) -> Condition | None:
    try:
        ours, theirs = ([_version(facts, package) for facts in side] for side in (own, others))
    except InvalidVersion:  # built by hand: there is no order to tell of
        return None
    inside = [version for version in ours if version is not None]
    outside = [version for version in theirs if version is not None]
    if not inside:
        return Condition(package, "without") if len(outside) == len(theirs) else None
    if len(inside) < len(ours):
        return None
    if not outside:
        return Condition(package, "with")
    if len(outside) < len(theirs):
        return None
    if min(inside) > max(outside):
        return Condition(package, "≥", min(inside).public)
    if max(inside) < min(outside):
        return Condition(package, "≤", max(inside).public)
    return None


def _version(facts: Facts, package: str) -> Version | None:
    text = facts.packages.get(package)
    return None if text is None else Version(text)


def _by_marker(marker: str, own: Sequence[Facts], others: Sequence[Facts]) -> Condition | None:
    inside = {facts.markers.get(marker) for facts in own}
    outside = {facts.markers.get(marker) for facts in others}
    if len(inside) != 1 or inside & outside or None in inside | outside:
        return None
    return Condition(marker, "is", str(inside.pop()))
