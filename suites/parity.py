"""Structural parity of one case: what both frontends write of it, compared as graphs."""

from __future__ import annotations

import contextlib
import warnings
from pathlib import Path
from typing import NamedTuple

import torch

from converter.errors import ConvertError
from converter.pnnx.param import read_param
from suites.case import Missing
from suites.frontends import FRONTENDS
from suites.inputs import draw
from suites.needs import lacking
from suites.pnnx_program import PnnxError
from suites.registry import index, load
from suites.structure import Difference, differences


class Parity(NamedTuple):
    """`differences` of a case, empty where the graphs are one; None with the words of the frontend
    that did not convert it, or of what this environment lacks.
    """

    case: str
    differences: list[Difference] | None
    refusal: str = ""


def compare_case(name: str, workdir: Path) -> Parity:
    """Convert a case through both frontends, with their files in `workdir`, and compare them."""
    lack = lacking(index()[name].needs)
    if lack:
        return Parity(name, None, lack)
    params: dict[str, str] = {}
    for frontend in FRONTENDS:
        folder = workdir / frontend
        folder.mkdir()
        try:
            params[frontend] = _convert(name, frontend, folder)
        except Missing as missing:
            return Parity(name, None, str(missing))
        except (ConvertError, PnnxError) as error:
            return Parity(name, None, f"{frontend}: {error}")
        except Exception as error:  # noqa: BLE001 (the case is foreign code)
            return Parity(name, None, f"{frontend}: {type(error).__name__}: {error}")
    ts, pt2 = (read_param(text, f"{name}.{frontend}") for frontend, text in params.items())
    return Parity(name, differences(ts, pt2))


def _convert(name: str, frontend: str, folder: Path) -> str:
    """The `.pnnx.param` that a frontend writes of a case."""
    with contextlib.chdir(folder), warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        case = load(name)
        torch.manual_seed(0)
        model = case.cls().eval()
        way = FRONTENDS[frontend](case)
        way.export(model, draw(case.inputs_for("pnnx")))
        way.convert(["pnnx"])
        return (folder / f"{name}.pnnx.param").read_text(encoding="utf-8")
