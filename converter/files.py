"""Output files that appear together or not at all.

Each is written under a temporary name beside its place, `.NAME.TOKEN.pt2pnnx-new`, one token for
all of a conversion, and is locked as long as the conversion lives. At the end, what has the names
goes aside (`-old`; `-none` says that there was nothing), then the new files take them, then what
went aside is removed. A process that is killed meanwhile leaves a part of the files, but none of
the old beside one of the new; the next conversion into that folder puts the old ones back if a new
one is still without its name, and removes the rest.

Where nothing can be locked (Windows, some network drives), the user must not run two conversions to
the same names at once.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

from converter.errors import UsageError
from converter.signals import undisturbed

if sys.platform != "win32":
    import fcntl

_TEMPORARY = re.compile(r"\.(.+)\.([0-9a-f]{12})\.pt2pnnx-(new|old|none)", re.DOTALL)
_KINDS: tuple[tuple[Callable[[int], bool], str], ...] = (
    (stat.S_ISDIR, "folder"),
    (stat.S_ISFIFO, "pipe"),
    (stat.S_ISSOCK, "socket"),
    (stat.S_ISCHR, "device"),
    (stat.S_ISBLK, "device"),
)


class _Temporary(NamedTuple):
    """The names of one output while it is made: beside its place, on the same drive."""

    place: Path
    token: str

    def called(self, kind: str) -> Path:
        return self.place.with_name(f".{self.place.name}.{self.token}.pt2pnnx-{kind}")

    def put_aside(self) -> None:
        if _kind(self.place):
            os.replace(self.place, self.called("old"))
        else:
            self.called("none").touch()

    def give_name(self) -> None:
        """The new file has the mode of the old one."""
        new = self.called("new")
        with contextlib.suppress(FileNotFoundError):
            os.chmod(new, stat.S_IMODE(self.called("old").stat().st_mode))
        os.replace(new, self.place)

    def put_back(self) -> None:
        if self.called("old").exists():
            os.replace(self.called("old"), self.place)
        elif self.called("none").exists():
            self.place.unlink(missing_ok=True)

    def remove(self, *kinds: str) -> None:
        for kind in kinds:
            with contextlib.suppress(OSError):
                self.called(kind).unlink()


class Outputs:
    """The files of one conversion.

    Use as a context manager: an exception inside leaves what was there before. `source` is what
    they are made from, and must not be written to.
    """

    def __init__(self, source: Path) -> None:
        self._source = source
        self._token = os.urandom(6).hex()
        self._made: dict[Path, _Temporary] = {}
        self._dropped: dict[Path, _Temporary] = {}
        self._handles: list[int] = []

    def path(self, wanted: Path) -> Path:
        """Make an empty temporary file for `wanted`.

        Raises UsageError if its folder refuses, if what has the name is no file or read-only, or if
        it is the source or another output.
        """
        with _refusal(wanted):
            temporary = _Temporary(self._place(wanted), self._token)
            folder = temporary.place.parent
            with _locked([folder]), undisturbed():
                _remove_leftovers(folder)
                flags = os.O_RDWR | os.O_CREAT | os.O_EXCL
                self._handles.append(os.open(temporary.called("new"), flags, 0o666))
                self._made[wanted] = temporary
                _lock(self._handles[-1])
        return temporary.called("new")

    def _place(self, wanted: Path) -> Path:
        """Follow symbolic links from `wanted`, and check what is there."""
        exists = _kind(wanted)
        place = wanted.resolve()
        source = self._source.resolve()
        if place == source or (exists and source.exists() and source.samefile(place)):
            raise ValueError("it is the model itself")
        if any(place == other.place for other in self._made.values()):
            raise ValueError("two outputs have this name")
        if exists and not os.access(place, os.W_OK):
            raise ValueError("it is read-only")
        return place

    def drop(self, wanted: Path) -> None:
        """Let no file be called so: neither the new one, nor an older one beside the others."""
        self._dropped[wanted] = self._made.pop(wanted)

    def commit(self) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
        """Give every file its name. Return those, and the older files that went with `drop`.

        Raises UsageError if one is refused; all is then as it was before.
        """
        every = {**self._made, **self._dropped}
        with _locked({one.place.parent for one in every.values()}), undisturbed():
            self._release()
            for one in self._dropped.values():
                one.remove("new")
            try:
                for wanted, one in every.items():
                    with _refusal(wanted):
                        one.put_aside()
                for wanted, one in self._made.items():
                    with _refusal(wanted):
                        one.give_name()
            except BaseException:
                for one in every.values():
                    with contextlib.suppress(OSError):
                        one.put_back()
                raise
            gone = [name for name, one in self._dropped.items() if one.called("old").exists()]
            for one in every.values():
                one.remove("old", "none")
            return tuple(self._made), tuple(gone)

    def _release(self) -> None:
        while self._handles:
            os.close(self._handles.pop())

    def __enter__(self) -> Outputs:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with undisturbed():
            self._release()
            every = (*self._made.values(), *self._dropped.values())
            if not any(one.called("old").exists() for one in every):  # else the next puts it back
                for one in every:
                    one.remove("new", "none")


def _kind(path: Path) -> bool:
    """Whether a file has this name. Raises ValueError if something else has."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return False
    for is_kind, name in _KINDS:
        if is_kind(mode):
            raise ValueError(f"it is a {name}")
    return True


@contextlib.contextmanager
def _refusal(wanted: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UsageError(f"cannot write {wanted}: {error.strerror or error}") from None
    except ValueError as error:
        raise UsageError(f"cannot write {wanted}: {error}") from None


# --- what other conversions left or are making


def _remove_leftovers(folder: Path) -> None:
    """Undo, or end, what conversions were doing that are dead. The folder must be locked."""
    left: dict[str, list[tuple[str, _Temporary]]] = {}
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            match = _TEMPORARY.fullmatch(entry.name)
            if match and _is_own(entry):
                name, token, kind = match.groups()
                left.setdefault(token, []).append((kind, _Temporary(folder / name, token)))
    for files in left.values():
        new = [one for kind, one in files if kind == "new"]
        if any(_is_held(one.called("new")) for one in new):
            continue
        with contextlib.suppress(OSError):
            if new:
                for _, one in files:
                    one.put_back()
            for _, one in files:
                one.remove("old", "none")
            for one in new:
                one.remove("new")


def _is_own(entry: os.DirEntry[str]) -> bool:
    """Whether this user made it: another one could have a file of any name be replaced."""
    status = entry.stat(follow_symlinks=False)
    return stat.S_ISREG(status.st_mode) and (
        sys.platform == "win32" or status.st_uid == os.geteuid()
    )


def _is_held(path: Path) -> bool:
    """Whether the conversion that makes this temporary file lives."""
    try:
        if sys.platform == "win32":
            os.rename(path, path)  # not while it is open
        else:
            handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            finally:
                os.close(handle)
    except OSError:
        return True
    return False


@contextlib.contextmanager
def _locked(folders: Iterable[Path]) -> Iterator[None]:
    """Let no other conversion begin or end in these folders meanwhile.

    They are locked in one order, so that no two wait for each other.
    """
    with contextlib.ExitStack() as stack:
        handles: dict[tuple[int, int], int] = {}
        if sys.platform != "win32":
            for folder in folders:
                with contextlib.suppress(OSError):
                    handle = os.open(folder, os.O_RDONLY)
                    stack.callback(os.close, handle)
                    status = os.fstat(handle)
                    handles[status.st_dev, status.st_ino] = handle
        for _, handle in sorted(handles.items()):
            _lock(handle)
        yield


def _lock(handle: int) -> None:
    if sys.platform != "win32":
        with contextlib.suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
