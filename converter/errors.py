"""Errors of the converter. Each says what is wrong, where, and the mend, in one line."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import NamedTuple, Self


class Where(NamedTuple):
    """Where in the user's model an operator comes from, read from the archive's stack trace."""

    file: str
    line: int
    code: str = ""
    module: str = ""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}"
        if self.code:
            place += f" `{self.code}`"
        if self.module:
            place += f" (in {self.module})"
        return place


LONGEST = 1000
"""Characters of a message, whatever a file or the command line put into it."""


def one_line(text: str) -> str:
    """Make text fit for one line of a terminal: neither escape characters nor halves of pairs."""
    if len(text) > LONGEST:
        text = f"{text[:LONGEST]}…"
    return text if text.isprintable() else "".join(c if c.isprintable() else "?" for c in text)


class ConvertError(Exception):
    """Base of every error that the converter raises on purpose.

    `str()` of it is one line, fit to be shown to a user: message, source location, mend.
    """

    def __init__(self, message: str, *, where: Where | None = None, mend: str = "") -> None:
        self.message = one_line(message)
        self.where = where
        self.mend = one_line(mend)
        text = self.message
        if where is not None:
            text += one_line(f", at {where}")
        if mend:
            text += f"; {self.mend}"
        super().__init__(text)

    def located(self, where: Where | None) -> Self:
        """The same error; at this place, where it does not tell one itself."""
        if self.where is not None or where is None:
            return self
        return type(self)(self.message, where=where, mend=self.mend)


class ArchiveError(ConvertError):
    """The file is not a readable exported program: damaged, foreign, or out of bounds."""


TORCHSCRIPT = "the TorchScript frontend may convert it: trace the model and use pnnx"


class UnsupportedError(ConvertError):
    """The program is well formed, but something in it is not converted (fail closed).

    `torchscript`: a trace of the model may be worth a try; the text says so.
    """

    def __init__(
        self,
        message: str,
        *,
        where: Where | None = None,
        mend: str = "",
        torchscript: bool = False,
    ) -> None:
        hint = TORCHSCRIPT if torchscript else ""
        super().__init__(message, where=where, mend="; ".join(filter(None, (mend, hint))))
        self.torchscript = torchscript


class UsageError(ConvertError):
    """The caller's arguments do not fit: an unknown key, a shape that does not match."""


class UnforeseenError(ConvertError):
    """What no check foresaw, of a file that contradicts itself or for a defect of the converter.

    The exception that it stands for is its cause.
    """


@contextlib.contextmanager
def foreseen(what: str, where: Where | None = None) -> Iterator[None]:
    """Let what is raised meanwhile be one line that names what was being done.

    A graph tells the shape and dtype of every value, and may lie: an operator may have another rank
    than its arguments are for. Whatever reads it next stumbles, and writes nothing.
    Raises UnforeseenError, UsageError where memory or files are the reason, and ConvertErrors as
    they are.
    """
    try:
        yield
    except ConvertError:
        raise
    except OSError as error:
        raise UsageError(f"cannot {what}: {error.strerror or error}", where=where) from None
    except MemoryError:
        raise UsageError(
            f"cannot {what}: there is not enough memory",
            where=where,
            mend="convert it on a machine with more",
        ) from None
    except Exception as error:
        name = type(error).__name__
        raise UnforeseenError(
            f"cannot {what}: the file contradicts itself, or the converter has a defect ({name})",
            where=where,
            mend="export it again; if that does not help, please report this with the file",
        ) from error
