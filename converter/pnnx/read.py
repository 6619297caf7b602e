"""Read what pnnx, or the converter, wrote."""

from __future__ import annotations

from pathlib import Path

from converter.errors import ConvertError
from converter.ir import Graph
from converter.pnnx.bin import read_bin
from converter.pnnx.param import read_param


def read_pnnx(param_path: str | Path, bin_path: str | Path) -> Graph:
    """Read a graph from its `.pnnx.param` and `.pnnx.bin`.

    Tensors are read when they are asked for; the file stays open as long as the graph lives.
    Raises ConvertError with one line that names the file, and the line of the `.param`.
    """
    try:
        text = Path(param_path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as e:
        raise ConvertError(f"cannot read {param_path}: {e}") from None
    graph = read_param(text, str(param_path))
    read_bin(graph, Path(bin_path))
    return graph
