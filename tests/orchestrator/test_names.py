"""The cases there are: those that are promised, each with a cell that can run it."""

from __future__ import annotations

from orchestrator.cells import load_cells
from orchestrator.plan import able
from suites.registry import ROOT, discover

CASES = discover()


def promised(file: str) -> set[str]:
    """The names of a list in `suites/names/`, none of which stands there twice."""
    names = (ROOT / "names" / file).read_text().split()
    assert len(names) == len(set(names))
    return set(names)


def test_the_cases_are_those_that_are_promised():
    top, ncnn = promised("top.txt"), promised("ncnn.txt")
    assert (len(top), len(ncnn)) == (398, 246)
    registered = {case.name for case in CASES}
    assert top - registered == set()
    assert registered - top - ncnn == set()


def test_cases_that_are_promised_for_ncnn_have_it_as_a_target():
    ncnn = promised("ncnn.txt")
    assert [case.name for case in CASES if case.name in ncnn and "ncnn" not in case.targets] == []


def test_every_case_has_a_cell_that_can_run_it():
    cells = load_cells().values()
    assert [case.name for case in CASES if not any(able(cell, case) for cell in cells)] == []
