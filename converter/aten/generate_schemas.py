"""Writes `schemas.txt`, the table that `schema_table` reads, from the torch that runs this:

    python -m converter.aten.generate_schemas

Run it with the newest supported torch and torchvision. The converter itself never imports torch.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import torch
import torchvision
from torch._export.serde.serialize import _SYM_OPS

from converter.aten.schema_table import TABLE, parse

NAMESPACES = ("aten", "prims", "torchvision")
FORMER = (math.ceil, math.floor)
"""Functions that earlier torch exported, and this one does not."""


def main() -> None:
    """Replace the table."""
    schemas = [str(schema) for schema in torch._C._jit_get_all_schemas()]
    lines = [line for line in schemas if line.startswith(NAMESPACES) and is_exportable(line)]
    lines += [python_schema(function) for function in (*_SYM_OPS, *FORMER)]
    title = f"# torch {torch.__version__}, torchvision {torchvision.__version__}"
    unfinished = TABLE.with_suffix(".unfinished")
    unfinished.write_text("\n".join([title, *sorted(lines), ""]), encoding="utf-8", newline="\n")
    unfinished.replace(TABLE)


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
    main()
