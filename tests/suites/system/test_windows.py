"""What Windows is asked for, at the border: its kernel and its C runtime are replaced here."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path, PureWindowsPath
from types import SimpleNamespace
from typing import Any

import pytest

from suites.system import job
from suites.system.job import Job
from suites.system.windows import Windows


class Kernel:
    """kernel32 as documented: a job's processes end when its last handle is closed."""

    def __init__(self, *gone: int) -> None:
        self.gone = gone
        self.handles = iter(range(100, 200))
        self.open: set[int] = set()
        self.processes: dict[int, int] = {}
        self.flags: dict[int, int] = {}
        self.assigned: dict[int, list[int]] = {}
        self.ended: list[int] = []
        self.pipe: int | None = 0
        """Bytes that wait in the pipe of orders; None once the other end is closed."""

    def _handle(self) -> int:
        handle = next(self.handles)
        self.open.add(handle)
        return handle

    def CreateJobObjectW(self, attributes: None, name: None) -> int:
        handle = self._handle()
        self.assigned[handle] = []
        return handle

    def SetInformationJobObject(self, handle: int, kind: int, limits: Any, size: int) -> int:
        assert kind == 9
        assert size == ctypes.sizeof(job.ExtendedLimits)
        self.flags[handle] = limits._obj.basic.flags
        return 1

    def OpenProcess(self, rights: int, inherit: bool, process: int) -> int | None:
        assert rights == 0x0101, "AssignProcessToJobObject needs SET_QUOTA and TERMINATE"
        if process in self.gone:
            return None
        handle = self._handle()
        self.processes[handle] = process
        return handle

    def AssignProcessToJobObject(self, handle: int, process: int) -> int:
        self.assigned[handle].append(self.processes[process])
        return 1

    def TerminateJobObject(self, handle: int, status: int) -> int:
        assert handle in self.open
        self.ended += self.assigned[handle]
        return 1

    def CloseHandle(self, handle: int) -> int:
        self.open.remove(handle)
        if self.flags.get(handle) == 0x2000:
            self.ended += self.assigned[handle]
        return 1

    def PeekNamedPipe(
        self, handle: int, buffer: None, size: int, read: None, waiting: Any, left: None
    ) -> int:
        assert handle == 77
        if self.pipe is None:
            return 0
        waiting._obj.value = self.pipe
        return 1


class Runtime:
    """msvcrt."""

    LK_NBLCK, LK_UNLCK = 2, 0

    def __init__(self, busy: int = 0) -> None:
        self.busy = busy
        self.calls: list[int] = []

    def get_osfhandle(self, descriptor: int) -> int:
        return 77

    def locking(self, descriptor: int, how: int, size: int) -> None:
        assert size == 1
        self.calls.append(how)
        if how == self.LK_NBLCK and self.busy:
            self.busy -= 1
            raise PermissionError(13, "Permission denied")


@pytest.fixture
def kernel() -> Kernel:
    return Kernel()


@pytest.fixture
def windows(kernel: Kernel) -> Windows:
    return Windows(kernel, Runtime())


@pytest.fixture
def orders() -> Iterator[Any]:
    with tempfile.TemporaryFile() as file:
        yield file


@pytest.mark.skipif(ctypes.sizeof(ctypes.c_void_p) != 8, reason="the sizes of 64-bit Windows")
def test_structures_are_as_long_as_windows_has_them() -> None:
    assert ctypes.sizeof(job.BasicLimits) == 64
    assert ctypes.sizeof(job.ExtendedLimits) == 144
    assert job.BasicLimits.flags.offset == 16
    assert job.ExtendedLimits.io.offset == 64


def test_a_family_is_killed_as_a_whole(windows: Windows, kernel: Kernel) -> None:
    family = windows.adopt(4711)
    family.kill()
    assert kernel.ended == [4711]


def test_a_family_ends_with_the_handle(windows: Windows, kernel: Kernel) -> None:
    """Windows closes it when the process that holds it dies; no other handle stays open."""
    family = windows.adopt(4711)
    assert len(kernel.open) == 1
    family.close()
    assert kernel.ended == [4711]
    assert not kernel.open


def test_a_process_that_has_ended_already() -> None:
    kernel = Kernel(4711)
    family = Job(kernel, 4711)
    family.kill()
    family.close()
    assert not kernel.ended
    assert not kernel.open


@pytest.mark.parametrize("fails", ["CreateJobObjectW", "SetInformationJobObject"])
def test_without_a_job_nothing_is_started(
    kernel: Kernel, fails: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel, fails, lambda *arguments: 0)
    with pytest.raises(OSError, match="Windows"):
        Job(kernel, 1)
    assert not kernel.open


def test_all_that_is_called_has_its_types(monkeypatch: pytest.MonkeyPatch) -> None:
    """A handle that passed as an int would lose its upper half."""
    functions = {name: SimpleNamespace() for name in job.FUNCTIONS}
    assert set(functions) == {name for name in vars(Kernel) if name[0].isupper()}
    library = SimpleNamespace(**functions)
    monkeypatch.setattr(ctypes, "WinDLL", lambda name, use_last_error: library, raising=False)
    assert job.load() is library
    assert functions["OpenProcess"].restype is ctypes.c_void_p
    assert functions["CloseHandle"].argtypes == (ctypes.c_void_p,)


@pytest.mark.parametrize(("pipe", "gone"), [(0, False), (5, True), (None, True)])
def test_the_slot_hangs_up(
    windows: Windows, kernel: Kernel, orders: Any, pipe: int | None, gone: bool
) -> None:
    kernel.pipe = pipe
    lookout = windows.lookout(SimpleNamespace(exitcode=None), orders)
    assert lookout.hung_up() is gone


def test_a_trial_ends(windows: Windows, orders: Any) -> None:
    process = SimpleNamespace(exitcode=None)
    lookout = windows.lookout(process, orders)
    assert not lookout.wait(None, 0)
    assert not lookout.ended()
    process.exitcode = 0xC0000005
    assert lookout.ended()


def test_a_lock_is_waited_for(kernel: Kernel, orders: Any) -> None:
    runtime = Runtime(busy=2)
    with Windows(kernel, runtime).locked(orders):
        assert runtime.calls == [2, 2, 2]
    assert runtime.calls == [2, 2, 2, 0]


def test_a_lock_is_let_go_after_an_error(kernel: Kernel, orders: Any) -> None:
    """And the error is not taken for a lock that another process holds."""
    runtime = Runtime()
    with pytest.raises(OSError, match="full"), Windows(kernel, runtime).locked(orders):
        raise OSError("the disk is full")
    assert runtime.calls == [2, 0]


def test_killing_sends_what_terminates(windows: Windows, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[tuple[int, int]] = []
    monkeypatch.setattr(os, "kill", lambda process, sign: sent.append((process, sign)))
    windows.kill(4711)
    assert sent == [(4711, signal.SIGTERM)]


def test_popen_knows_what_it_is_given(windows: Windows) -> None:
    assert windows.apart == {"creationflags": 0x200}
    assert windows.dependent == {}


def test_paths(windows: Windows) -> None:
    home: Any = PureWindowsPath(r"C:\a checkout\.nox\env-torch213-tf5")
    python = windows.python(home)
    assert str(python) == r"C:\a checkout\.nox\env-torch213-tf5\Scripts\python.exe"
    assert windows.program("pnnx") == "pnnx.exe"


def test_commands(windows: Windows) -> None:
    words = [r"C:\a checkout\pnnx-parity.exe", "show", "a run", "F_relu"]
    assert windows.spell(words) == r'"C:\a checkout\pnnx-parity.exe" show "a run" F_relu'
    assert windows.spell(["nox", "-s", "env(tiny)"]) == "nox -s env(tiny)"


def test_a_folder_is_linked_by_a_junction(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[str, str]] = []
    junctions = SimpleNamespace(CreateJunction=lambda source, at: made.append((source, at)))
    monkeypatch.setitem(sys.modules, "_winapi", junctions)
    Windows(Kernel(), None).link(Path("environments"), Path("tree"))
    assert made == [("environments", "tree")]
