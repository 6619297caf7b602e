"""Writes `schemas.txt`, the table that `schema_table` reads.

    python -m converter.aten.generate_schemas > 2.7.txt

prints what the torch that runs this has (the newest needs torchvision beside it), and

    python -m converter.aten.generate_schemas 2.5.txt 2.6.txt 2.7.txt …

writes the table: all of the newest, and of each earlier one what was different there. The converter
itself never imports torch.
"""

from __future__ import annotations

import inspect
import math
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from converter.aten.schema_table import TABLE, OpSchema, Release, as_before, parse, release

NAMESPACES = ("aten::", "prims::", "torchvision::")
FORMER = (math.ceil, math.floor)
"""Functions that earlier torch exported, and the newest does not."""


DROPPED = re.compile(r"aten::(?!\w+\.\w*([Dd]imname|name))\w+(\.\w+)?")
"""Operators that are kept where a later torch lacks them: no export has dims with names."""


class Installed(NamedTuple):
    """What one torch has: its schemas by the name that they begin with, `aten::conv2d.padding`."""

    release: Release
    lines: Mapping[str, str]


def main(files: Sequence[str]) -> None:
    """Print the schemas of this torch, or replace the table by the merged ones of files."""
    if not files:
        print(*installed(), sep="\n")
        return
    unfinished = TABLE.with_suffix(".unfinished")
    text = "\n".join([*merged([read(Path(file)) for file in files]), ""])
    unfinished.write_text(text, encoding="utf-8", newline="\n")
    unfinished.replace(TABLE)


def installed() -> Iterator[str]:
    """The title and the schemas of the torch that runs this, and of its torchvision."""
    import torch
    from torch._export.serde import serialize

    title = f"# torch {torch.__version__}"
    try:
        import torchvision
    except ImportError:
        pass
    else:
        title += f", torchvision {torchvision.__version__}"
    # One set of functions; of several in torch 2.5 and 2.6.
    kinds = ("_SYM_OPS", "_SYM_INT_OPS", "_SYM_BOOL_OPS")
    functions = {one: None for kind in kinds for one in getattr(serialize, kind, ())}
    schemas = [str(schema) for schema in torch._C._jit_get_all_schemas()]
    lines = [line for line in schemas if line.startswith(NAMESPACES) and is_exportable(line)]
    lines += [python_schema(function) for function in (*functions, *FORMER)]
    yield title
    yield from sorted(set(lines))


def read(file: Path) -> Installed:
    """Read what `installed` printed."""
    title, *lines = file.read_text(encoding="utf-8").splitlines()
    found = release(title.removeprefix("# torch "))
    if found is None:
        sys.exit(f"{file}: its first line does not tell a torch")
    return Installed(found, {line[: line.index("(")]: line for line in lines})


def merged(made: Sequence[Installed]) -> Iterator[str]:
    """The table's lines. What an operator was until a release is told where that made a difference.

    Operators that a later torch dropped are as they were last.
    """
    newest, *earlier = sorted(made, key=lambda one: one.release, reverse=True)
    lines = dict(newest.lines)
    for one in earlier:
        for name, line in one.lines.items():
            if DROPPED.fullmatch(name):
                lines.setdefault(name, line)
    yield "# torch " + " ".join(f"{major}.{minor}" for (major, minor), _ in (newest, *earlier))
    yield from sorted(lines.values())
    before: dict[str, OpSchema] = {name: parse(line) for name, line in lines.items()}
    for one in earlier:
        for name, line in sorted(one.lines.items()):
            if name in lines:
                was = as_before(parse(lines[name]), parse(line))
                if was != before[name]:
                    before[name] = was
                    yield f"until {one.release[0]}.{one.release[1]} {line}"


def is_exportable(line: str) -> bool:
    """Leave out what only TorchScript calls: its generic lists, dictionaries, tuples, futures."""
    try:
        parse(line)
    except ValueError:
        return False
    return True


def python_schema(function: Callable[..., Any]) -> str:
    """Write a Python function on symbolic numbers in the same language."""
    arguments = ", ".join(f"Scalar {name}" for name in inspect.signature(function).parameters)
    return f"{function.__module__}::{function.__name__}({arguments}) -> Scalar"


if __name__ == "__main__":
    main(sys.argv[1:])
