"""What an environment lacks of the things that a case needs."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from packaging.requirements import Requirement


def lacking(needs: Iterable[str]) -> str:
    """What this environment lacks of some requirement strings, in words; empty when nothing."""
    return "; ".join(filter(None, map(_lack, needs)))


@cache
def _lack(need: str) -> str:
    requirement = Requirement(need)
    try:
        installed = version(requirement.name)
    except PackageNotFoundError:
        return f"needs {need}, which this environment lacks"
    if not requirement.specifier.contains(installed, prereleases=True):
        return f"needs {need}, and this environment has {requirement.name} {installed}"
    return ""
