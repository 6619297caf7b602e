"""The history for those who can do without it: nothing fails because of the file."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from orchestrator.history.store import History, HistoryError
from orchestrator.spelling import command

DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)

T = TypeVar("T")


def attempt(
    file: Path, act: Callable[[History], T], otherwise: T, warn: Callable[[str], None]
) -> T:
    """Do something with the history; where that cannot be, warn and return `otherwise`.

    A damaged file is moved aside, and a new one takes its place.
    """
    for aside in (False, True, False):
        try:
            with History(file) as history:
                return act(history)
        except HistoryError as error:
            warn(str(error))
            break
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # without what details it
            garbled = isinstance(error, UnicodeDecodeError)  # what SQLite quotes of the file
            if code not in DAMAGED and not garbled:  # locked for long, no space, not writable
                warn(f"{file}: {error}; going on without the history")
                break
            if aside:  # the second time: another run may have put it right meanwhile
                warn(f"{file} is damaged ({error}){_move_aside(file)}")
    return otherwise


def _move_aside(file: Path) -> str:
    """Rename a damaged file, and remove what SQLite had beside it; say what is to be done."""
    number = 1
    while (aside := file.with_name(f"{file.name}.damaged-{number}")).exists():
        number += 1
    try:
        file.rename(aside)
        for ending in ("-wal", "-shm"):
            file.with_name(file.name + ending).unlink(missing_ok=True)
    except OSError as error:
        return f" and cannot be moved aside: {error.strerror}; remove it"
    return f" and was moved to {aside.name}; make it anew with: {command('history', '--rebuild')}"
