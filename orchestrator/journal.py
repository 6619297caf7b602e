"""The journal: one JSON line for each result, on the disk before it counts."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

import msgspec

from orchestrator.errors import UsageError
from suites.trial import Result, Trial

NAME = "results.jsonl"

decode = msgspec.json.Decoder(Result).decode


class JournalError(UsageError):
    """A journal that cannot be read or continued."""


def read(file: Path) -> list[Result]:
    """Read the results of a run; a last line that was torn by a kill does not count.

    Raises JournalError for a damaged line elsewhere and for a trial that stands twice.
    """
    results: dict[Trial, Result] = {}
    for number, line in enumerate(_whole_lines(file), 1):
        try:
            result = decode(line)
        except msgspec.DecodeError as error:
            raise JournalError(f"{file}:{number}: not a result: {error}; remove the line") from None
        if result.trial in results:
            raise JournalError(
                f"{file}:{number}: {str(result.trial)!r} stands twice; remove one line"
            )
        results[result.trial] = result
    return list(results.values())


def _whole_lines(file: Path) -> Iterator[bytes]:
    try:
        *whole, _ = file.read_bytes().split(b"\n")
    except FileNotFoundError:
        return
    yield from (line + b"\n" for line in whole)


class Journal:
    """Appends results to a run's journal; a torn last line is cut off first."""

    def __init__(self, file: Path) -> None:
        self._path = file
        self._file = file.open("ab", buffering=0)
        self._file.truncate(sum(map(len, _whole_lines(file))))

    def add(self, result: Result) -> None:
        """Append a result; when this returns it is on the disk. Raises JournalError."""
        line = memoryview(msgspec.json.encode(result) + b"\n")
        try:
            while line:
                line = line[self._file.write(line) :]
            os.fsync(self._file.fileno())
        except OSError as error:
            raise JournalError(f"{self._path}: {error.strerror}; mend that, then resume") from None

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._file.close()
