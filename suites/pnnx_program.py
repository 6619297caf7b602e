"""The released pnnx program: where it is and how one model is converted with it."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from suites.system import system
from suites.system.status import killer

TAIL = 30
"""Lines of the program's output that a diagnostic keeps."""


class PnnxError(Exception):
    """The pnnx program did not convert a model. The text ends with the program's last words."""


@cache
def program() -> Path:
    """The executable inside the installed package, which is not imported: that imports torch.

    Raises PnnxError where the package is not installed.
    """
    spec = find_spec("pnnx")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder, system.program("pnnx"))
        if path.is_file():
            return path
    raise PnnxError("the pnnx program is not installed; run `pip install pnnx`")


def convert(model: Path, arguments: Sequence[str], outputs: Sequence[Path], limit: float) -> str:
    """Run pnnx on a TorchScript file, and return what it printed.

    `arguments` are its `key=value` words, `limit` is in seconds. Raises PnnxError when it fails,
    dies of a signal, exceeds the limit or leaves one of `outputs` unwritten.
    """
    command = [str(program()), model.name, *arguments]
    with subprocess.Popen(
        command,
        cwd=model.parent,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        **system.dependent,
    ) as process:
        try:
            printed, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            process.kill()
            printed, _ = process.communicate()
            raise PnnxError(f"pnnx took more than {limit:g} s\n{_tail(printed)}") from None
    if by := killer(process.returncode):
        told = f"pnnx was ended by {by}"
    elif process.returncode > 0:
        told = f"pnnx ended with exit status {process.returncode}"
    elif lack := unwritten(outputs, printed):
        raise PnnxError(lack)
    else:
        return printed
    raise PnnxError(f"{told}\n{_tail(printed)}")


def unwritten(outputs: Sequence[Path], printed: str) -> str:
    """Say which of the files a run of pnnx did not write; empty where it wrote all."""
    missing = [path.name for path in outputs if not path.is_file()]
    return f"pnnx wrote no {', '.join(missing)}\n{_tail(printed)}" if missing else ""


def _tail(printed: str) -> str:
    """The last words, less the addresses of a stack that has no symbols."""
    lines = [line for line in printed.splitlines() if line.strip() and "frame #" not in line]
    return "\n".join(lines[-TAIL:])
