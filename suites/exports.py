"""Whether a case that is exported in another way converts to the graph of its plain export.

`run_decompositions()` says some arguments in other words, which tell the same: dims count from the
front, numbers are floats, what is left out is written. They are compared by what they say.
"""

from __future__ import annotations

import contextlib
import math
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import torch

from converter.errors import ConvertError
from converter.ir import Graph, Operator, Param
from converter.pnnx.param import read_param
from suites.case import Case, Missing
from suites.frontends import frontend_of
from suites.inputs import draw
from suites.needs import lacking
from suites.registry import index, load
from suites.structure import Difference, differences
from suites.trial import DECOMPOSED, PLAIN, STRICT

TABLE = Path(__file__).with_name("exports.toml")
"""Where graphs differ, and why: `suites.reviewed` says what its keys mean."""

SEED = 0


class Export(NamedTuple):
    """`differences` of an export from the plain one, empty where the graphs are one.

    None where torch refuses the export (`torch`), the converter does (`converter`), or the
    environment lacks what the case needs (`environment`): that is `refused_by`, in whose words
    `refusal` is.
    """

    case: str
    export: str
    differences: list[Difference] | None
    refused_by: str = ""
    refusal: str = ""


def compare_exports(
    name: str, workdir: Path, exports: Sequence[str] = (STRICT, DECOMPOSED)
) -> list[Export]:
    """Convert a case, exported plainly and in these ways, with its files in `workdir`."""
    try:
        if lack := lacking(index()[name].needs):
            raise Missing(lack)
        case = load(name)
        torch.manual_seed(SEED)
        model = case.cls().eval()
        plain = _convert(case, model, PLAIN, workdir)
    except Exception as error:  # noqa: BLE001 (the plain export is judged by the trials)
        return [Export(name, export, None, "environment", str(error)) for export in exports]
    return [_compare(case, model, export, plain, workdir) for export in exports]


def _compare(
    case: Case, model: torch.nn.Module, export: str, plain: Graph, workdir: Path
) -> Export:
    try:
        other = _convert(case, model, export, workdir)
    except ConvertError as error:
        return Export(case.name, export, None, "converter", str(error))
    except Exception as error:  # noqa: BLE001 (torch's refusals are of every type)
        return Export(case.name, export, None, "torch", f"{type(error).__name__}: {error}")
    return Export(case.name, export, differences(plain, other, (PLAIN, export)))


def _convert(case: Case, model: torch.nn.Module, export: str, workdir: Path) -> Graph:
    """The graph that the converter writes of an export, its arguments said in one way."""
    folder = workdir / export
    folder.mkdir()
    with contextlib.chdir(folder), warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        way = frontend_of(case, "pt2", export)
        way.export(model, draw(case.inputs_for("pnnx")))
        way.convert("pnnx")
    graph = read_param((folder / f"{case.name}.pnnx.param").read_text(), f"{case.name}.{export}")
    for op in graph.operators:
        op.params = {key: value for key, value in plainly(op).items() if value != UNSAID}
    return graph


# --- arguments said in one way


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
        case "F.pad":
            params["value"] = params["value"] or 0
        case "F.scaled_dot_product_attention":
            width = (op.inputs[0].shape or ("?",))[-1]
            scale = params.get("scale")
            if isinstance(width, int) and isinstance(scale, int | float):
                usual = math.isclose(scale, width**-0.5, rel_tol=1e-6)
                params["scale"] = UNSAID if usual else scale
        case "torch.tile":
            dims = params["dims"]
            assert isinstance(dims, tuple)
            params["dims"] = (1,) * ((rank or 0) - len(dims)) + dims
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
