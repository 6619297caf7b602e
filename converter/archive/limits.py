"""How far a compressed archive may unpack; the environment says otherwise for archives like that.

Nothing else of an archive is larger than the file itself. docs/security.md lists all limits.
"""

from __future__ import annotations

import os

from converter.errors import UsageError

UNPACKED_LIMIT = 1 << 30
"""Bytes that all compressed entries together may unpack to; PT2PNNX_UNPACKED_LIMIT."""
UNPACKED_RATIO = 20
"""How many times as large as the file they may be, where that is more; PT2PNNX_UNPACKED_RATIO."""


def unpacked_limit(length: int) -> int:
    """Bytes that the compressed entries of a file of this length may unpack to."""
    limit = _setting("PT2PNNX_UNPACKED_LIMIT", UNPACKED_LIMIT)
    return max(limit, _setting("PT2PNNX_UNPACKED_RATIO", UNPACKED_RATIO) * length)


def _setting(name: str, default: int) -> int:
    text = os.environ.get(name, "")
    if not text:
        return default
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise UsageError(f"the environment variable {name} is {text!r}, which is no whole number")
    return int(text)
