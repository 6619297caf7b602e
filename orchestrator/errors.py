"""Errors that a user can mend: one line each, exit status 2."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class UsageError(Exception):
    """A usage, table or environment error, found before any trial ran.

    `str()` of it is one line: what is wrong, where, and the mend.
    """


def nearest(name: str, known: Iterable[str]) -> str:
    """Say which known names are near to a wrong one, as the end of an error's line."""
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    if near:
        return f"did you mean {' or '.join(near)}?"
    if len(names) <= 12:
        return f"there are: {', '.join(names) or 'none'}"
    return f"there are {len(names)}, such as {', '.join(names[:3])}"
