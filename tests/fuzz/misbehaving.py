"""Lets conversions go wrong in every way that the judge must see, and prints what it saw."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import judge

import converter
from converter.conversion import Converted
from converter.errors import ConvertError, UnforeseenError, UsageError

NAMES = ("m.pnnx.param", "m.pnnx.bin", "m_pnnx.py")


def hangs(path: Path) -> Any:
    while True:
        pass


def takes_memory(path: Path) -> Any:
    bytearray(2 << 30)


def takes_memory_and_says_so(path: Path) -> Any:
    raise UsageError("cannot do it: there is not enough memory")


def escapes(path: Path) -> Any:
    raise KeyError("a")


def unforeseen(path: Path) -> Any:
    raise UnforeseenError("cannot do it")


def is_no_line(path: Path) -> Any:
    error = ConvertError("fine")
    error.args = ("two\nlines",)
    raise error


def leaves(path: Path) -> Any:
    path.with_name(".m.temporary").touch()
    raise ConvertError("refused")


def prints(path: Path) -> Any:
    print("a warning", file=sys.stderr)
    raise ConvertError("refused")


def breaks_out(path: Path) -> Any:
    (path.parents[1] / "elsewhere").touch()
    raise ConvertError("refused")


def breaks_out_to_a_program(path: Path) -> Any:
    subprocess.run(["true"])
    raise ConvertError("refused")


def dies(path: Path) -> Any:
    os.abort()


def is_not_read_again(path: Path) -> Any:
    for name in NAMES:
        path.with_name(name).write_text("7767517\n1 1\n")
    return Converted((), ncnn_refusal=ConvertError("no layer"))  # type: ignore[arg-type]


def refused(path: Path) -> Any:
    raise ConvertError("fine")


WAYS: list[Callable[[Path], Any]] = [
    hangs, takes_memory, takes_memory_and_says_so, escapes, unforeseen, is_no_line, leaves, prints,
    breaks_out, breaks_out_to_a_program, dies, is_not_read_again, refused,
]  # fmt: skip


def main() -> None:
    for way in WAYS:
        converter.convert = way
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name, "out")
            folder.mkdir()
            print(f"{way.__name__}: {judge.judged(folder, Path.touch, {}, seconds=1).kind}")


if __name__ == "__main__":
    main()
