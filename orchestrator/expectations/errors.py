"""The error of an expectation table: file, line, what is wrong and the mend, on one line."""

from __future__ import annotations

from pathlib import Path

from orchestrator.errors import UsageError


class TableError(UsageError):
    """A table under suites/expectations/ that cannot be taken."""

    def __init__(self, file: Path, line: int, message: str, mend: str) -> None:
        self.file = file
        self.line = line
        self.message = message
        self.mend = mend
        super().__init__(f"{file}:{line}: {message}; {mend}")
