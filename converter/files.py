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

    Use as a context manager: an exception inside leaves no file behind. `source` is what they are
    made from, and must not be written to.
    """

    def __init__(self, source: Path) -> None:
        self._source = source
        self._pending: dict[Path, Path] = {}

    def path(self, wanted: Path) -> Path:
        """Make an empty temporary file for `wanted`.

        Raises UsageError if its folder refuses, or if it is a folder, the source or another output.
        """
        place = wanted.resolve()
        if place == self._source.resolve():
            raise UsageError(f"cannot write {wanted}: it is the model itself")
        if any(place == other.resolve() for other in self._pending):
            raise UsageError(f"cannot write {wanted}: two outputs have this name")
        if place.is_dir():
            raise UsageError(f"cannot write {wanted}: it is a folder")
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
        """Give every file its name; return them in order. Raises UsageError if one is refused."""
        names = tuple(self._pending)
        for wanted in names:
            try:
                os.replace(self._pending[wanted], wanted)
            except OSError as error:
                raise UsageError(f"cannot write {wanted}: {error.strerror}") from None
            del self._pending[wanted]
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
