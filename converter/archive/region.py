"""Bytes of a file, read by their place: a whole file, or what lies in a part of it."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterable, Iterator
from io import RawIOBase
from pathlib import Path

from converter.errors import ArchiveError

DAMAGED = "copy or save the file again"


class Region:
    """The bytes of an open file from `start` on; `name` is what errors call them.

    Raises ArchiveError and nothing else.
    """

    def __init__(self, name: str, file: RawIOBase, start: int, length: int) -> None:
        self._name = name
        self._file = file
        self._start = start
        self.length = length

    @classmethod
    def of(cls, path: Path) -> Region:
        """Open a file."""
        closed = cls(printable(str(path), 4096), RawIOBase(), 0, 0)
        try:
            if not stat.S_ISREG(path.stat().st_mode):  # opening a pipe would wait for its writer
                raise closed.error("is not a file")
            file = path.open("rb", buffering=0)
        except FileNotFoundError:
            raise closed.error("no such file") from None
        except OSError as error:
            raise closed.error(f"cannot be opened: {error.strerror}") from None
        except ValueError:  # a null character in the path
            raise closed.error("no such file") from None
        return cls(closed._name, file, 0, os.fstat(file.fileno()).st_size)

    def part(self, entry: str, start: int, length: int) -> Region:
        """What lies in a part of it; it is closed with the whole."""
        return Region(f"{self._name}: in `{printable(entry)}`", self._file, start, length)

    def copied(self, entry: str, chunks: Iterable[memoryview]) -> Region:
        """The bytes of `chunks`, on the disk and without a name, for reading them by place."""
        name = f"{self._name}: in `{printable(entry)}`"
        try:
            file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 (the region closes it)
        except OSError as error:
            raise self.error(f"cannot be unpacked: {error.strerror}") from None
        length = 0
        try:
            for chunk in chunks:
                while chunk:
                    written = file.write(chunk)
                    chunk = chunk[written:]
                    length += written
        except OSError as error:
            file.close()
            raise self.error(f"cannot be unpacked: {error.strerror}") from None
        except BaseException:
            file.close()
            raise
        return Region(name, file, 0, length)

    def close(self) -> None:
        self._file.close()

    def error(self, message: str, mend: str = "") -> ArchiveError:
        """Make an error that names the file."""
        return ArchiveError(f"{self._name}: {message}", mend=mend)

    def at(self, start: int, size: int) -> bytes:
        """Read exactly `size` bytes."""
        if start < 0 or start + size > self.length:
            raise self.error("is cut off or damaged", DAMAGED)
        return b"".join(bytes(chunk) for chunk in self.chunks(start, size, size))

    def chunks(self, start: int, size: int, limit: int) -> Iterator[memoryview]:
        """Read through one buffer that is used again and again: a chunk is valid until the next."""
        buffer = memoryview(bytearray(min(limit, size)))
        position = start
        while position < start + size:
            room = buffer[: start + size - position]
            try:
                self._file.seek(self._start + position)
                count = self._file.readinto(room)
            except OSError as error:
                raise self.error(f"cannot be read: {error.strerror}") from None
            if not count:
                raise self.error("ends early: it changed while it was read", DAMAGED)
            yield room[:count]
            position += count


def printable(text: str, limit: int = 200) -> str:
    """Make foreign text fit for one line of a terminal."""
    if len(text) > limit:
        text = text[:limit] + "…"
    return text if text.isprintable() else "".join(c if c.isprintable() else "?" for c in text)
