"""Write a file whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_whole(path: Path, data: bytes | str) -> None:
    """Write to a temporary file beside `path`, then rename it: no reader sees half a file.

    Raises OSError with the name `path`.
    """
    try:
        _write_whole(path, data.encode("utf-8") if isinstance(data, str) else data)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def _write_whole(path: Path, content: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        temporary.chmod(0o644)  # mkstemp keeps it to its owner; a report is for everyone
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
