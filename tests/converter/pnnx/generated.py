"""Write the Python of a graph and import it."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from torch import Tensor

from converter.ir import Array, Attribute, Graph
from converter.pnnx.bin import write_bin
from converter.pnnx.param import read_param
from converter.pnnx.python import write_python


def graph_of(lines: str, stored: Mapping[str, Array] | None = None) -> Graph:
    """Read the lines of a `.param`; `stored` gives attributes (`fc.weight`) their values."""
    rows = [line.strip() for line in lines.strip().split("\n")]
    outputs = sum(int(row.split()[3]) for row in rows)
    graph = read_param("\n".join(["7767517", f"{len(rows)} {outputs}", *rows]), "test.param")
    graph.check()
    for op in graph.operators:
        for key in op.attrs:
            op.attrs[key] = Attribute.of(np.asarray((stored or {})[f"{op.name}.{key}"]))
    return graph


def generate(graph: Graph, folder: Path) -> ModuleType:
    """Write the module and its tensors to a folder, and import it."""
    write_bin(graph, folder / "m.pnnx.bin")
    with (folder / "m_pnnx.py").open("w") as file:
        write_python(graph, file, "m.pnnx.bin", "m_pnnx")
    return load(folder / "m_pnnx.py")


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def flat(value: Any) -> list[Tensor]:
    """The tensors in a nest of tuples and lists."""
    return [value] if isinstance(value, Tensor) else [one for part in value for one in flat(part)]
