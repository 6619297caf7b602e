"""How much a conversion writes: not without bound more than it was given.

Views of one stored tensor are a few bytes each in the archive and a tensor each in the outputs.
"""

from __future__ import annotations

from pathlib import Path

from converter.archive.limits import unpacked_limit
from converter.errors import UnsupportedError
from converter.ir import Graph


def check_total(graph: Graph, model: Path, target: str) -> None:
    """Refuse a graph whose tensors are far larger than the file that they come from."""
    given = model.stat().st_size
    total = sum(attribute.nbytes for op in graph.operators for attribute in op.attrs.values())
    if total > (limit := unpacked_limit(given)):
        raise UnsupportedError(
            f"{target}'s file would hold {total} bytes of tensors, more than {limit}, of a model "
            f"of {given}",
            mend="store tensors once and unexpanded; set PT2PNNX_UNPACKED_LIMIT to more if you "
            "trust the file",
        )
