"""Job objects of Windows: all processes of a job end when the last handle to it is closed.

Closed by whoever made it, or by Windows when that process dies: nothing outlives it. What a
process of a job starts is in the job too; jobs nest (Windows 8 and later).
"""

from __future__ import annotations

import ctypes
from ctypes import c_int, c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from typing import Any, TypeAlias

Kernel: TypeAlias = Any
"""kernel32, whose functions a test replaces."""

EXTENDED_LIMITS = 9  # JobObjectExtendedLimitInformation
KILL_ON_JOB_CLOSE = 0x2000
TERMINATE = 0x0001
SET_QUOTA = 0x0100


class BasicLimits(ctypes.Structure):
    """JOBOBJECT_BASIC_LIMIT_INFORMATION."""

    _fields_ = (
        ("process_time", c_int64),
        ("job_time", c_int64),
        ("flags", c_uint32),
        ("working_set_min", c_size_t),
        ("working_set_max", c_size_t),
        ("processes", c_uint32),
        ("affinity", c_size_t),
        ("priority", c_uint32),
        ("scheduling", c_uint32),
    )


class ExtendedLimits(ctypes.Structure):
    """JOBOBJECT_EXTENDED_LIMIT_INFORMATION; IO_COUNTERS in the middle are six numbers."""

    _fields_ = (
        ("basic", BasicLimits),
        ("io", c_uint64 * 6),
        ("process_memory", c_size_t),
        ("job_memory", c_size_t),
        ("peak_process_memory", c_size_t),
        ("peak_job_memory", c_size_t),
    )


FUNCTIONS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "CreateJobObjectW": (c_void_p, (c_void_p, c_void_p)),
    "SetInformationJobObject": (c_int, (c_void_p, c_int, c_void_p, c_uint32)),
    "OpenProcess": (c_void_p, (c_uint32, c_int, c_uint32)),
    "AssignProcessToJobObject": (c_int, (c_void_p, c_void_p)),
    "TerminateJobObject": (c_int, (c_void_p, c_uint32)),
    "CloseHandle": (c_int, (c_void_p,)),
    "PeekNamedPipe": (c_int, (c_void_p, c_void_p, c_uint32, c_void_p, c_void_p, c_void_p)),
}
"""What each function returns and takes: a handle is as wide as a pointer, not as an int."""


def load() -> Kernel:
    """Load kernel32, with the types of what is called."""
    kernel = ctypes.WinDLL("kernel32", use_last_error=True)  # type: ignore[attr-defined]
    for name, (result, arguments) in FUNCTIONS.items():
        function = getattr(kernel, name)
        function.restype, function.argtypes = result, arguments
    return kernel


class Job:
    """A job with one process and what it starts from now on."""

    def __init__(self, kernel: Kernel, process: int) -> None:
        self._kernel = kernel
        self._handle = kernel.CreateJobObjectW(None, None)
        if not self._handle:
            raise OSError("Windows makes no job object")
        limits = ExtendedLimits()
        limits.basic.flags = KILL_ON_JOB_CLOSE
        size = ctypes.sizeof(limits)
        if not kernel.SetInformationJobObject(
            self._handle, EXTENDED_LIMITS, ctypes.byref(limits), size
        ):
            self.close()
            raise OSError("Windows does not let a job end with its maker")
        opened = kernel.OpenProcess(TERMINATE | SET_QUOTA, False, process)
        if opened:  # else it has ended already
            kernel.AssignProcessToJobObject(self._handle, opened)
            kernel.CloseHandle(opened)

    def kill(self) -> None:
        self._kernel.TerminateJobObject(self._handle, 1)

    def close(self) -> None:
        self._kernel.CloseHandle(self._handle)
