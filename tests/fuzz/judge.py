"""Converts one hostile file in a process of its own, within bounds, and judges what it did."""

from __future__ import annotations

import ast
import json
import os
import resource
import signal
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import converter
from converter.errors import ConvertError, UnforeseenError
from converter.pnnx.read import read_pnnx

SECONDS, BYTES = 10, 1 << 30
PNNX = {"m.pnnx.param", "m.pnnx.bin", "m_pnnx.py"}
NCNN = {"m.ncnn.param", "m.ncnn.bin", "m_ncnn.py"}
FORBIDDEN = ("ctypes", "os.exec", "os.fork", "os.posix_spawn", "os.system", "socket", "subprocess")
"""What nothing in a file may lead to, by the beginning of Python's audit event."""

CHANGING = {
    "os.chmod",
    "os.link",
    "os.mkdir",
    "os.remove",
    "os.rename",
    "os.symlink",
    "os.truncate",
}
INT32, FLOAT32 = 1 << 31, 3.5e38


class Verdict(NamedTuple):
    """`kind` is converted, refused, or what went wrong; `told` says more, `place` where."""

    kind: str
    told: str = ""
    place: str = ""

    @property
    def is_sound(self) -> bool:
        return self.kind in ("converted", "refused")


class Trial:
    """A conversion of `folder/m.pt2` that runs; `made` writes that file, in the process too."""

    def __init__(
        self,
        folder: Path,
        made: Callable[[Path], object],
        options: Mapping[str, Any],
        seconds: int = SECONDS,
    ) -> None:
        self.folder = folder
        self._read, write = os.pipe()
        self.pid = os.fork()
        if not self.pid:
            os.close(self._read)
            _convert(folder, made, options, seconds, write)
        os.close(write)

    def verdict(self, status: int) -> Verdict:
        """Judge the trial, whose process has ended with this status of `os.wait`."""
        with os.fdopen(self._read, "rb") as stream:
            said = stream.read()
        code = os.waitstatus_to_exitcode(status)
        if code in (-signal.SIGXCPU, -signal.SIGALRM):
            return Verdict("hangs", f"ended by {signal.Signals(-code).name}")
        if code or not said:
            return Verdict("dies", f"exit status {code}")
        verdict = Verdict(*json.loads(said))
        if verdict.is_sound:
            printed = (self.folder.parent / "printed.txt").read_text(errors="replace")
            if printed:
                return Verdict("prints", printed[-500:])
        return verdict


def judged(
    folder: Path,
    made: Callable[[Path], object],
    options: Mapping[str, Any],
    seconds: int = SECONDS,
) -> Verdict:
    trial = Trial(folder, made, options, seconds)
    return trial.verdict(os.waitpid(trial.pid, 0)[1])


# --- in the process


def _convert(
    folder: Path,
    made: Callable[[Path], object],
    options: Mapping[str, Any],
    seconds: int,
    write: int,
) -> NoReturn:
    verdict = Verdict("dies", "in the judge")
    try:
        path = folder / "m.pt2"
        made(path)
        printed = os.open(folder.parent / "printed.txt", os.O_CREAT | os.O_TRUNC | os.O_WRONLY)
        os.dup2(printed, 1)
        os.dup2(printed, 2)
        broken: list[str] = []
        sys.addaudithook(_watch(folder.resolve(), broken))
        _limit(seconds)
        verdict = _verdict(path, options)
        if broken:
            verdict = Verdict("breaks out", broken[0])
    except BaseException as error:  # noqa: BLE001 (the process ends here)
        verdict = Verdict("dies", repr(error), _place(error))
    finally:
        os.write(write, json.dumps([text[:1000] for text in verdict]).encode())
        os._exit(0)


def _limit(seconds: int) -> None:
    """Seconds of CPU, so that a busy machine is no hang; and many more of the clock."""
    signal.alarm(seconds * 30)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    if sys.platform == "linux":
        held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (held + BYTES, held + BYTES))


def _watch(folder: Path, broken: list[str]) -> Callable[[str, tuple[Any, ...]], None]:
    inside = str(folder)

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        writes = event in CHANGING
        if event == "open":
            _, _, flags = arguments
            nameless = os.path.isdir(arguments[0])  # a temporary file without a name
            writes = bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)) and not nameless
        if event.startswith(FORBIDDEN):
            broken.append(event)
        elif writes and not os.path.realpath(os.fsdecode(arguments[0])).startswith(inside):
            broken.append(f"{event} {arguments[0]}")

    return watch


def _verdict(path: Path, options: Mapping[str, Any]) -> Verdict:
    wanted = PNNX | NCNN
    try:
        converted = converter.convert(path, **options)
    except MemoryError as error:
        return Verdict("takes memory", "", _place(error))
    except ConvertError as error:
        verdict, wanted = _refused(error), set()
    except Exception as error:  # noqa: BLE001 (that is the question)
        return Verdict("escapes", repr(error), _place(error))
    else:
        verdict = Verdict("converted")
        if converted.ncnn_refusal is not None:
            refused = _refused(converted.ncnn_refusal)
            verdict, wanted = verdict if refused.is_sound else refused, PNNX
        verdict = _reread(path.parent, wanted) if verdict.is_sound else verdict
    left = set(os.listdir(path.parent)) - {path.name}
    if verdict.is_sound and left != wanted:
        return Verdict("leaves", ", ".join(sorted(left ^ wanted)))
    return verdict


def _refused(error: ConvertError) -> Verdict:
    told = str(error)
    if isinstance(error, UnforeseenError):
        return Verdict("unforeseen", f"{told} [{error.__cause__!r}]", _place(error.__cause__))
    if "not enough memory" in told:
        return Verdict("takes memory", told, _place(error.__context__))
    if not told.isprintable():
        return Verdict("is no line", told)
    return Verdict("refused", told)


def _reread(folder: Path, wanted: Sequence[str] | set[str]) -> Verdict:
    """Whether our own readers read what was written, and Python and ncnn would."""
    try:
        graph = read_pnnx(folder / "m.pnnx.param", folder / "m.pnnx.bin")
        graph.check()
        for name in wanted:
            if name.endswith(".py"):
                compile(ast.parse((folder / name).read_text()), name, "exec")
        if "m.ncnn.param" in wanted:
            check_ncnn((folder / "m.ncnn.param").read_text())
    except Exception as error:  # noqa: BLE001 (whatever it is)
        return Verdict("is not read again", repr(error), _place(error))
    return Verdict("converted")


def check_ncnn(text: str) -> None:
    """Raise ValueError for what ncnn would not read as it was meant."""
    magic, counts, *layers = text.splitlines()
    if magic != "7767517" or len(layers) != int(counts.split()[0]):
        raise ValueError("the head is wrong")
    for line in layers:
        _, _, inputs, outputs, *words = line.split()
        for word in words[int(inputs) + int(outputs) :]:
            key, _, value = word.partition("=")
            int(key)
            for number in value.split(",") if not value.startswith('"') else ():
                is_float = not number.lstrip("-").isdigit()
                if not abs(float(number)) < (FLOAT32 if is_float else INT32):
                    raise ValueError(f"{number} in {line}")


def _place(error: BaseException | None) -> str:
    """The last line of the converter that an error passed."""
    frames = [
        f"{Path(frame.filename).parent.name}/{Path(frame.filename).name}:{frame.lineno}"
        for frame in traceback.extract_tb(error.__traceback__ if error else None)
        if "/converter/" in frame.filename
    ]
    return frames[-1] if frames else ""
