"""Output files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path
from types import TracebackType

from converter.errors import UsageError


class Outputs:
    """Files under temporary names beside their places; they get their names together, at the end.

    Use as a context manager: an exception inside leaves no file behind.
    """

    def __init__(self) -> None:
        self._pending: dict[Path, Path] = {}

    def path(self, wanted: Path) -> Path:
        """Make an empty temporary file for `wanted`. Raises UsageError if its folder refuses."""
        try:
            handle, name = tempfile.mkstemp(dir=wanted.parent, prefix=f".{wanted.name}.")
            os.close(handle)
            # mkstemp is private to the user; outputs follow the umask like any other file.
            os.chmod(name, 0o666 & ~_umask())
        except OSError as error:
            raise UsageError(f"cannot write {wanted}: {error.strerror}") from None
        self._pending[wanted] = Path(name)
        return self._pending[wanted]

    def commit(self) -> tuple[Path, ...]:
        """Give every file its name; return them in order."""
        for wanted, temporary in self._pending.items():
            os.replace(temporary, wanted)
        names = tuple(self._pending)
        self._pending.clear()
        return names

    def __enter__(self) -> Outputs:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for temporary in self._pending.values():
            with contextlib.suppress(OSError):
                temporary.unlink()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
