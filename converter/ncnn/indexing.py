"""Items of a dim, picked by a stored list of indices."""

from __future__ import annotations

from collections.abc import Sequence

from converter.ncnn.blob import Blob
from converter.ncnn.graph import FLOATS
from converter.ncnn.joining import concatenated
from converter.ncnn.op import Op
from converter.ncnn.registry import ncnn
from converter.ncnn.slicing import Part, cropped
from converter.passes.formula import Items, parse

MOST_RUNS = 32
"""More runs of neighbours are too many layers."""

ONE_LIST = "index one dim by a stored list of integers"


@ncnn("Tensor.index", dtypes="moved")
def index(op: Op) -> Blob:
    """`x[:, [2, 1, 0]]`, which pnnx writes as `expr=[None,[2,1,0]]`."""
    text, lists = op.text("expr"), parse(op.operator)
    dims = lists.items if isinstance(lists, Items) else ()
    match [(dim, each) for dim, each in enumerate(dims) if each is not None]:
        case [(dim, Items(indices))] if all(type(each) is int for each in indices):
            return picked_items(op, op.blob(), dim, [each for each in indices if type(each) is int])
    return op.refuse(f"by {text} is not expressible in ncnn", ONE_LIST)


@ncnn("torch.index_select", dtypes="checked")
def index_select(op: Op) -> Blob:
    x, indices = op.need("input", 0), op.need("index", 1).values
    if x.dtype not in FLOATS:
        op.refuse(f"moves {x.dtype}, and ncnn floats", "convert it with .float()")
    if indices is None:
        op.refuse("its indices are computed", ONE_LIST)
    return picked_items(op, x, op.dim(x.rank), indices.array().reshape(-1).tolist())


def picked_items(op: Op, x: Blob, dim: int, indices: Sequence[int]) -> Blob:
    """Runs of neighbours, put together in their order."""
    size = op.size(x, dim)
    runs: list[tuple[int, int]] = []
    for place in (each % size for each in indices):
        start, end = runs.pop() if runs and runs[-1][1] == place else (place, place)
        runs.append((start, end + 1))
    if not runs:
        op.refuse("picks nothing, and ncnn has no empty blobs")
    if len(runs) > MOST_RUNS:
        op.refuse(f"picks {len(runs)} separate parts", f"pick at most {MOST_RUNS}")
    return concatenated(op, [cropped(op, x, [Part(dim, *run)]) for run in runs], dim)
