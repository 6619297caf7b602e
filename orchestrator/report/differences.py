"""What differs between cells, and which versions tell the cells apart."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from packaging.version import InvalidVersion, Version

from orchestrator.expectations import Facts
from orchestrator.expectations.facts import MARKERS
from orchestrator.report.model import Difference, Row, Side

PACKAGES = ("torch", "torchvision", "torchaudio", "transformers", "pnnx", "ncnn", "numpy")
"""Those whose versions are told; what else a cell has came with them."""


def differences(
    rows: Sequence[Row], kinds: Sequence[str], facts: Mapping[str, Facts]
) -> list[Difference]:
    """The trials that came to different things in the cells that have them.

    `kinds` says for each row what it came to (rows of one kind are alike); `facts` are by the
    cell's label.
    """
    trials: dict[tuple[str, str], list[int]] = defaultdict(list)
    for number, row in enumerate(rows):
        trials[row.case, row.path].append(number)
    return [
        Difference(case=case, path=path, sides=_sides(numbers, rows, kinds, facts))
        for (case, path), numbers in trials.items()
        if len({kinds[number] for number in numbers}) > 1
    ]


def _sides(
    numbers: Sequence[int], rows: Sequence[Row], kinds: Sequence[str], facts: Mapping[str, Facts]
) -> list[Side]:
    groups: dict[str, list[int]] = defaultdict(list)
    for number in numbers:
        groups[kinds[number]].append(number)
    sides = []
    for kind, inside in groups.items():
        outside = [number for number in numbers if kinds[number] != kind]
        own, others = ([facts[rows[n].cell] for n in part] for part in (inside, outside))
        sides.append(Side(rows=inside, where=apart(own, others)))
    return sorted(sides, key=lambda side: -len(side.rows))


def apart(own: Sequence[Facts], others: Sequence[Facts]) -> list[str]:
    """What holds in each of some cells and in none of the others."""
    found = [_by_version(package, own, others) for package in PACKAGES]
    found += [_by_marker(marker, own, others) for marker in MARKERS]
    return [condition for condition in found if condition]


def _by_version(package: str, own: Sequence[Facts], others: Sequence[Facts]) -> str:
    ours, theirs = ([_version(facts, package) for facts in side] for side in (own, others))
    inside = [version for version in ours if version is not None]
    outside = [version for version in theirs if version is not None]
    if not inside:
        return f"without {package}" if len(outside) == len(theirs) else ""
    if len(inside) < len(ours):
        return ""
    if not outside:
        return f"with {package}"
    if len(outside) < len(theirs):
        return ""
    if min(inside) > max(outside):
        return f"{package} ≥ {min(inside).public}"
    if max(inside) < min(outside):
        return f"{package} ≤ {max(inside).public}"
    return ""


def _version(facts: Facts, package: str) -> Version | None:
    try:
        return Version(facts.packages[package])
    except (KeyError, InvalidVersion):
        return None


def _by_marker(marker: str, own: Sequence[Facts], others: Sequence[Facts]) -> str:
    inside = {facts.markers.get(marker) for facts in own}
    outside = {facts.markers.get(marker) for facts in others}
    if len(inside) != 1 or inside & outside or None in inside | outside:
        return ""
    return f"{marker} is {inside.pop()}"
