"""Whether a case that is exported in another way converts to the graph of its plain export.

`run_decompositions()` says some arguments in other words, which tell the same: dims count from the
front, numbers are floats, what is left out is written. They are compared by what they say.
"""

from __future__ import annotations

import math
from pathlib import Path

from converter.ir import Graph, Operator, Param
from converter.pnnx.param import read_param
from suites.structure import Difference, differences
from suites.trial import DECOMPOSED, PLAIN, STRICT

TABLES = {export: Path(__file__).with_name(f"{export}.toml") for export in (STRICT, DECOMPOSED)}
"""Where graphs of these exports differ, and why: `suites.reviewed` says what the keys mean."""


def compare_export(plain: str, other: str, export: str) -> list[Difference]:
    """How the `.pnnx.param` of an export differs from the plain one's; not at all where the list is
    empty. Raises ParamError.
    """
    return differences(_graph(plain, PLAIN), _graph(other, export), (PLAIN, export))


def _graph(text: str, name: str) -> Graph:
    graph = read_param(text, name)
    for op in graph.operators:
        op.params = {key: value for key, value in plainly(op).items() if value != UNSAID}
    return graph


UNSAID = "unsaid"
DIMS = ("dim", "dim0", "dim1", "dims", "start_dim", "end_dim")
GROWING = ("torch.stack", "torch.unsqueeze")
"""Their dims are those of the result."""


def plainly(op: Operator) -> dict[str, Param]:
    """The params of an operator as those of an equal one are written."""
    params = {key: _whole(value) for key, value in op.params.items() if key != "expr"}
    rank = _rank(op)
    for key in DIMS:
        if key in params and rank is not None:
            params[key] = _from_front(params[key], rank)
    match op.type:
        case "torch.transpose":
            first, second = params["dim0"], params["dim1"]
            assert isinstance(first, int)
            assert isinstance(second, int)
            params["dim0"], params["dim1"] = min(first, second), max(first, second)
        case "torch.narrow":
            shape, start = op.inputs[0].shape, params["start"]
            size = shape[int(str(params["dim"]))] if shape is not None else None
            if isinstance(size, int) and isinstance(start, int):
                params["start"] = start % size
        case "F.pad":
            params["value"] = params["value"] or 0
        case "F.scaled_dot_product_attention":
            width = (op.inputs[0].shape or ("?",))[-1]
            scale = params.get("scale")
            if isinstance(width, int) and isinstance(scale, int | float):
                usual = math.isclose(scale, width**-0.5, rel_tol=1e-6)
                params["scale"] = UNSAID if usual else scale
        case "torch.roll":
            params |= _roll(op, params)
        case "torch.tile":
            dims = params["dims"]
            assert isinstance(dims, tuple)
            params["dims"] = (1,) * ((rank or 0) - len(dims)) + dims
    if op.type.startswith("torch.fft."):
        params |= _transform(op, params)
    if params.get("stride", UNSAID) is None:
        params["stride"] = params["kernel_size"]
    return params | {key: value for key, value in op.params.items() if key == "expr"}


def _rank(op: Operator) -> int | None:
    operands = op.outputs if op.type in GROWING else op.inputs
    shape = operands[0].shape if operands else None
    return None if shape is None else len(shape)


def _from_front(dims: Param, rank: int) -> Param:
    if isinstance(dims, tuple):
        return tuple(_from_front(dim, rank) for dim in dims)
    return dims % rank if isinstance(dims, int) and rank else dims


def _whole(value: Param) -> Param:
    """A float that is a whole number as that."""
    if isinstance(value, tuple):
        return tuple(map(_whole, value))
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _roll(op: Operator, params: dict[str, Param]) -> dict[str, Param]:
    """The shifts of a roll, all of them forward, and the only dim of a vector."""
    shape, shifts, dims = op.inputs[0].shape, params["shifts"], params["dims"]
    if shape is None or not isinstance(shifts, tuple):
        return {}
    sizes = [shape[int(str(dim))] for dim in dims] if isinstance(dims, tuple) else [_size(op)]
    pairs = zip(shifts, sizes, strict=True)
    forward = tuple(int(str(shift)) % int(size) for shift, size in pairs)
    return {"shifts": forward, "dims": (0,) if dims is None and len(shape) == 1 else dims}


def _size(op: Operator) -> int:
    return math.prod(int(size) for size in op.inputs[0].shape or ())


TWICE = ("torch.fft.hfft", "torch.fft.irfft")
"""What gives about twice as many values as it is given, by the beginnings of their names."""


def _transform(op: Operator, params: dict[str, Param]) -> dict[str, Param]:
    """The sizes, dims and scaling of a Fourier transform, where they are not given too."""
    shape = op.inputs[0].shape
    if "norm" not in params or shape is None or not all(isinstance(size, int) for size in shape):
        return {}
    key = "n" if "n" in params else "s"
    given, dims = params[key], params["dim"]
    if dims is None:
        count = len(given) if isinstance(given, tuple) else len(shape)
        dims = tuple(range(len(shape) - count, len(shape)))
    if given is None:
        places = dims if isinstance(dims, tuple) else (dims,)
        sizes = [int(shape[place]) for place in places if isinstance(place, int)]
        if op.type.startswith(TWICE):
            sizes[-1] = 2 * (sizes[-1] - 1)
        given = tuple(sizes) if key == "s" else sizes[0]
    return {key: given, "dim": dims, "norm": params["norm"] or "backward"}
