"""Which cases changed files affect, and how closely."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from orchestrator.errors import UsageError
from orchestrator.prepush.diff import Lines
from orchestrator.prepush.git import Git
from orchestrator.prepush.index import Index
from orchestrator.prepush.smoke import SMOKE
from orchestrator.prepush.units import Module, Units
from suites.registry import ON_REQUEST, CaseInfo
from suites.trial import FRONTENDS, PLAIN

IDLE = ("docs/", "tests/", "benchmarks/", "fixtures/", ".github/", ".ci/", "LICENSE", ".")
"""What no trial reads: paths that begin so, and texts that end in `.md`."""

TABLES = "suites/expectations/"

FAR = 99
"""Steps to what is only in the same file as a change."""


class Route(NamedTuple):
    """A trial in whatever cell."""

    case: str
    frontend: str
    target: str
    export: str = PLAIN


class Closeness(NamedTuple):
    """How closely a change concerns a case; less is closer.

    `steps` lie between the change and the rule, through which `breadth` ways go.
    """

    steps: int
    breadth: int


SMOKED = Closeness(FAR + 1, 0)


@dataclass
class Affected:
    """What a push is to be tested with, and remarks on what cannot be told."""

    routes: dict[Route, Closeness] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def add(self, route: Route, closeness: Closeness) -> None:
        self.routes[route] = min(closeness, self.routes.get(route, closeness))


class Sources:
    """The pushed files, checked out in a folder, and what they were before."""

    def __init__(self, tree: Path, git: Git, base: str) -> None:
        self._tree = tree
        self._git = git
        self._base = base

    def units(self, package: str) -> Units:
        """Raises UsageError for a file that is not Python."""
        folder = self._tree / package
        texts = {
            file.relative_to(folder).as_posix(): file.read_text(encoding="utf-8", errors="replace")
            for file in folder.rglob("*.py")
        }
        try:
            return Units(package, texts)
        except SyntaxError as error:
            raise UsageError(f"{error.filename}:{error.lineno}: not Python: {error.msg}") from None

    def before(self, package: str, file: str) -> Module | None:
        """A file as it was; None where it was not, or not Python."""
        text = self._git.file(self._base, f"{package}/{file}")
        try:
            return None if text is None else Module(package, file, text)
        except SyntaxError:
            return None

    def texts(self, name: str) -> tuple[list[str], list[str]]:
        """The lines of a file before and after; none where there is no such file."""
        before = self._git.file(self._base, name) or ""
        file = self._tree / name
        after = file.read_text(encoding="utf-8", errors="replace") if file.exists() else ""
        return before.split("\n"), after.split("\n")


def affected(
    changed: Mapping[str, Lines] | None,
    sources: Sources,
    index: Index,
    cases: Mapping[str, CaseInfo],
) -> Affected:
    """What changed files affect; None where it is not known which are changed.

    Raises UsageError where a file that counts is not Python.
    """
    found = Affected()
    if changed is None:
        found.notes.append("the remote has nothing to compare with: the smoke set stands in")
        _smoke(found, cases, FRONTENDS)
        return found
    names = [name for name in changed if not is_idle(name)]
    packages = {
        package: [name.partition("/")[2] for name in names if name.startswith(f"{package}/")]
        for package in ("converter", "suites")
    }
    if packages["converter"]:
        _rules(found, changed, packages["converter"], sources, index)
        _tell_unknown(found, index, cases)
        _smoke(found, cases, ("pt2",))
    in_suites = [name for name in packages["suites"] if name.count("/") == 1]
    taken = {f"suites/{file}" for file in in_suites}
    others = [name for name in names if name not in taken and not name.startswith("converter/")]
    lost = _cases(found, changed, in_suites, sources, cases)
    if others or lost:
        _smoke(found, cases, FRONTENDS)
    return found


def is_idle(name: str) -> bool:
    """Whether no trial depends on a file."""
    return name.startswith(IDLE) or name.endswith(".md")


def _smoke(found: Affected, cases: Mapping[str, CaseInfo], frontends: Iterable[str]) -> None:
    for name in filter(cases.__contains__, SMOKE):
        for route in _all_of(cases[name], frontends):
            found.add(route, SMOKED)


def _all_of(case: CaseInfo, frontends: Iterable[str] = FRONTENDS) -> Iterator[Route]:
    for frontend in frontends:
        for target in case.targets:
            yield Route(case.name, frontend, target)


def _rules(
    found: Affected,
    changed: Mapping[str, Lines],
    files: Iterable[str],
    sources: Sources,
    index: Index,
) -> None:
    """The ways that went through what changed in the converter: only pt2's."""
    ways = index.ways()
    if not ways:
        found.notes.append(
            "there is no index of what cases go through, so the smoke set stands in; "
            "a run of every case makes one: nox -s pt2"
        )
        return
    for rule, steps in _reached("converter", changed, files, sources, ways).items():
        for way in ways[rule]:
            found.add(
                Route(way.case, "pt2", way.target, way.export), Closeness(steps, len(ways[rule]))
            )


def _tell_unknown(found: Affected, index: Index, cases: Mapping[str, CaseInfo]) -> None:
    """The index is of the runs that were made: a rule may have cases that none of them had."""
    known = {entry.way.case for entry in index.entries}
    lacking = {name for name, case in cases.items() if case.suite not in ON_REQUEST} - known
    if known and lacking:
        found.notes.append(
            f"the index lacks {len(lacking)} of {len(cases)} cases, which may be affected too and"
            " are not run; a run of every case records them: nox -s pt2"
        )


def _cases(
    found: Affected,
    changed: Mapping[str, Lines],
    files: Iterable[str],
    sources: Sources,
    cases: Mapping[str, CaseInfo],
) -> bool:
    """The cases in changed files, of changed entries of tables, and those that use what changed;
    but not the self-check's, which fail.

    Tell whether a file of the suites has none of these.
    """
    cases = {name: case for name, case in cases.items() if case.suite not in ON_REQUEST}
    places = {f"{case.file}:{case.name}": case for case in cases.values()}
    tables = [file for file in files if f"suites/{file}".startswith(TABLES)]
    python = [file for file in files if file.endswith(".py")]
    is_lost = bool(set(files) - set(tables) - set(python))
    for file in python:
        reached = _reached("suites", changed, [file], sources, places)
        is_lost |= not reached
        for place, steps in reached.items():
            for route in _all_of(places[place]):
                found.add(route, Closeness(steps, 1))
    for file in tables:
        name = f"suites/{file}"
        texts = zip(sources.texts(name), changed[name], strict=True)
        spoken = set[str]().union(*(named(lines, numbers) for lines, numbers in texts))
        for case in spoken.intersection(cases):
            for route in _all_of(cases[case]):
                found.add(route, Closeness(0, 1))
    return is_lost


def named(lines: list[str], changed: Iterable[int]) -> set[str]:
    """The cases of the entries of a table in which lines were changed."""
    found = set()
    entry = ""
    owners = []
    for line in lines:
        if line.startswith("[["):
            entry = ""
        elif line.partition("=")[0].strip() == "case":
            entry = line.partition("=")[2].strip().strip("\"'")
        owners.append(entry)
    for number in changed:
        found.update(owners[number - 1 : number])
    return found - {""}


def _reached(
    package: str,
    changed: Mapping[str, Lines],
    files: Iterable[str],
    sources: Sources,
    places: Iterable[str],
) -> dict[str, int]:
    """Which places changes reach, in the fewest steps; of a file in which a change reaches none,
    all."""
    units = sources.units(package)
    known = set(places)
    found: dict[str, int] = {}
    for file in files:
        if not file.endswith(".py"):
            continue
        lines = changed[f"{package}/{file}"]
        before, after = sources.before(package, file), units.modules.get(file)
        if before and after and ast.dump(before.tree) == ast.dump(after.tree):
            continue  # comments and the like
        reached = [
            units.reached(module, numbers, known)
            for module, numbers in ((before, lines.before), (after, lines.after))
            if module is not None
        ]
        if not any(reached):
            reached = [{place: FAR for place in known if place.startswith(f"{file}:")}]
        for each in reached:
            for place, steps in each.items():
                found[place] = min(steps, found.get(place, steps))
    return found
