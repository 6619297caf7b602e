"""Which lines of which files differ between two commits."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from orchestrator.prepush.git import Git

HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


class Lines(NamedTuple):
    """The changed lines of a file: in the version before and in the one after, from 1."""

    before: frozenset[int]
    after: frozenset[int]


NONE = Lines(frozenset(), frozenset())


def changes(git: Git, before: str, after: str) -> dict[str, Lines]:
    """The files that differ, by path, with their lines; a renamed file is two. Binary files have
    none."""
    options = ("--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules")
    names = git("diff", "--name-only", "-z", *options, before, after).split("\0")
    found = dict.fromkeys(filter(None, names), NONE)
    for name in found:
        if name.endswith((".py", ".toml")):
            text = git("diff", "--unified=0", "--no-color", *options, before, after, "--", name)
            found[name] = lines(text.split("\n"))
    return found


def lines(diff: Iterable[str]) -> Lines:
    """The lines that one file's diff without context tells of."""
    before: set[int] = set()
    after: set[int] = set()
    for first, count, first_after, count_after in _hunks(diff):
        before.update(range(first, first + count))
        after.update(range(first_after, first_after + count_after))
    return Lines(frozenset(before), frozenset(after))


def _hunks(diff: Iterable[str]) -> Iterator[tuple[int, int, int, int]]:
    left = 0
    for line in diff:
        if left:  # a changed line may look like anything
            left -= not line.startswith("\\")
        elif match := HUNK.match(line):
            first, count, first_after, count_after = match.groups("1")
            left = int(count) + int(count_after)
            yield int(first), int(count), int(first_after), int(count_after)
