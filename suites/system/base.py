"""What the project needs of an operating system, one implementation per file beside this."""

from __future__ import annotations

import signal
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, Any, Protocol


class Family(Protocol):
    """A process and what it has started."""

    def kill(self) -> None:
        """End all of it at once."""

    def close(self) -> None:
        """Let go of it; some systems end then what is left of it."""


class Lookout(Protocol):
    """What a runner sees while it waits for a trial."""

    def wait(self, reports: Any, limit: float) -> bool:
        """Wait for a report, for the trial's end or the slot's hang-up, at most `limit` seconds.

        Tells whether there is a report to read. `reports` is a Connection, or None once it is
        closed. May return earlier than any of these.
        """

    def ended(self) -> bool:
        """Tell whether the trial's process had ended when the last `wait` returned."""

    def hung_up(self) -> bool:
        """Tell whether the slot had gone by then."""

    def close(self) -> None:
        """Let go of what it holds."""


class System(Protocol):
    """An operating system, as far as it matters here."""

    forks: bool
    """Whether a process that has imported torch can be forked safely."""

    stopping: tuple[signal.Signals, ...]
    """The signals with which people and machines stop a run."""

    apart: Mapping[str, Any]
    """Arguments of Popen: Ctrl-C in the terminal does not reach the process."""

    dependent: Mapping[str, Any]
    """Arguments of Popen: the program ends with the process that starts it, where that alone
    can be had; elsewhere a trial's programs end with its family."""

    def python(self, home: Path) -> Path:
        """The Python of a virtual environment."""

    def program(self, name: str) -> str:
        """The name of a program's file."""

    def spell(self, words: Sequence[str]) -> str:
        """Spell a command for the system's shell."""

    def lead(self) -> None:
        """Let this process lead a family of its own, which its starter adopts."""

    def adopt(self, process: int) -> Family:
        """Take charge of a process that was just started, and of what it will start."""

    def end_with_parent(self, parent: int, *, at_once: bool) -> None:
        """Have this process, which leads a family, end when its parent dies: `parent` is its id.

        It is ended at once, or where there are signals gets SIGTERM and can tidy up.
        """

    def kill(self, process: int) -> None:
        """End one process at once."""

    def lookout(self, process: Any, orders: IO[bytes]) -> Lookout:
        """Watch a process of multiprocessing and the pipe that orders come from."""

    def locked(self, file: IO[str]) -> AbstractContextManager[None]:
        """Hold a lock on an open file, once whoever holds it has let go or died."""

    def link(self, folder: Path, at: Path) -> None:
        """Let a folder be found at another place too; whoever unlinks that keeps the folder."""

    def processor(self) -> str:
        """The processor's name, empty where the system does not tell it."""
