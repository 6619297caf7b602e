"""The condition of an expectation: `torch>=2.12,<2.14 and platform==win32`, or `always`.

A condition is a package with PEP 440 specifiers or a marker with `==` or `!=`; `and` joins
conditions. There is no `or`: two entries say that.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import cache
from typing import NamedTuple

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from orchestrator.errors import nearest
from orchestrator.expectations.facts import MARKERS, Facts

CONDITION = re.compile(r"([A-Za-z][A-Za-z0-9._-]*?)\s*((?:[=!~<>]=|<|>).*)")
MARKER_TEST = re.compile(r"(==|!=)\s*([A-Za-z0-9_.+-]+)")


class WhenError(ValueError):
    """A `when` that cannot be read: `str()` of it says what, `mend` what to write."""

    def __init__(self, message: str, mend: str) -> None:
        self.mend = mend
        super().__init__(message)


class MarkerTest(NamedTuple):
    marker: str
    equal: bool
    value: str


class When(NamedTuple):
    """Specifiers by canonical package name, and marker tests; all must hold."""

    packages: dict[str, SpecifierSet]
    markers: tuple[MarkerTest, ...]

    @classmethod
    def parse(cls, text: str, packages: Collection[str]) -> When:
        """Read a `when`; `packages` are the names that envs/ pins. Raises WhenError."""
        when = cls({}, ())
        known = (*packages, *MARKERS)
        if text.strip() == "always":
            return when
        if re.search(r"\sor\s", text):
            raise WhenError(f"`{text.strip()}`: there is no `or`", "write an entry for each side")
        for condition in re.split(r"\s+and\s+", text.strip()):
            split = CONDITION.fullmatch(condition)
            if split is None:
                raise WhenError(
                    f"`{condition}` is not a condition",
                    "write NAME and a comparison, such as torch>=2.12,<2.14, or `always`",
                )
            name, comparison = split.groups()
            if name in MARKERS:
                when = when._replace(markers=(*when.markers, _marker_test(name, comparison)))
                continue
            package = canonicalize_name(name)
            if package not in packages:
                raise WhenError(f"no cell pins `{name}`, and it is no marker", nearest(name, known))
            if package in when.packages:
                raise WhenError(f"`{name}` stands twice", "join its specifiers with a comma")
            when.packages[package] = _specifiers(comparison)
        return when


def _marker_test(marker: str, comparison: str) -> MarkerTest:
    test = MARKER_TEST.fullmatch(comparison)
    if test is None:
        raise WhenError(
            f"`{marker}{comparison}`: a marker compares with == or != and one word",
            f"write {marker}==VALUE",
        )
    operator, value = test.groups()
    known = MARKERS[marker]
    if known is not None and value not in known:
        raise WhenError(f"`{value}` is no {marker}", f"write one of {', '.join(known)}")
    return MarkerTest(marker, operator == "==", value)


def _specifiers(comparison: str) -> SpecifierSet:
    try:
        if not all(part.strip() for part in comparison.split(",")):
            raise InvalidSpecifier
        return SpecifierSet(comparison, prereleases=True)  # nightlies are versions too
    except InvalidSpecifier:
        raise WhenError(
            f"`{comparison}` is no PEP 440 specifier", "write one such as >=2.12,<2.14"
        ) from None


def hold(whens: Iterable[When], facts: Facts) -> bool:
    """Whether these conditions can all hold at once; a marker that the facts leave open may be
    anything, but one thing."""
    whens = tuple(whens)
    for when in whens:
        for package, specifiers in when.packages.items():
            version = facts.packages.get(package)
            if version is None or not _contains(specifiers, version):
                return False
    tests = [test for when in whens for test in when.markers]
    return all(
        _satisfiable([test for test in tests if test.marker == marker], facts.markers.get(marker))
        for marker in MARKERS
    )


@cache
def _contains(specifiers: SpecifierSet, version: str) -> bool:
    try:
        return specifiers.contains(Version(version))
    except InvalidVersion:  # a runner reports what is installed; it meets no specifier
        return False


def _satisfiable(tests: list[MarkerTest], known: str | None) -> bool:
    required = {test.value for test in tests if test.equal}
    if known is not None:
        required.add(known)
    excluded = {test.value for test in tests if not test.equal}
    return len(required) <= 1 and not required & excluded
