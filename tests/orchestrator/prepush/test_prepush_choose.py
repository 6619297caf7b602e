"""Which trials are run, and where."""

from __future__ import annotations

from pathlib import Path

from packaging.specifiers import SpecifierSet

from orchestrator.cells import Cell, load_cells
from orchestrator.prepush.affected import Closeness, Route
from orchestrator.prepush.choose import START, choose, wanted
from suites.registry import CaseInfo


def cell(name: str, transformers: str, suites: tuple[str, ...] | None = None) -> Cell:
    pins = ("torch==2.13.0", f"transformers=={transformers}")
    return Cell(name, name, SpecifierSet(), pins, suites, {}, Path(name))


def case(name: str, suite: str = "functional", needs: tuple[str, ...] = ()) -> CaseInfo:
    return CaseInfo(name, suite, f"{suite}/x.py", 1, needs, ("pnnx",), ("cpu",), 9.0)


FIVE, FOUR = cell("five", "5.16.1"), cell("four", "4.48.3", ("transformers",))
CASES = {
    each.name: each
    for each in (case("near"), case("far"), case("model", "transformers"), case("v", needs=("x",)))
}
ROUTES = {
    Route("far", "pt2", "pnnx"): Closeness(1, 2),
    Route("near", "pt2", "pnnx"): Closeness(0, 2),
    Route("model", "pt2", "pnnx"): Closeness(0, 9),
    Route("v", "pt2", "pnnx"): Closeness(0, 9),
    Route("deleted", "pt2", "pnnx"): Closeness(0, 1),
    Route("near", "pt2", "ncnn"): Closeness(0, 1),
}


def names(budget: float = 600.0, homes: list[list[Cell]] | None = None) -> list[tuple[str, str]]:
    chosen = choose(ROUTES, CASES, homes or [[FIVE], [FOUR]], {}, budget, 1)
    return [(trial.case, trial.cell) for trial in chosen.trials]


def test_the_closest_come_first_and_models_run_with_both_versions() -> None:
    assert names() == [("near", "five"), ("model", "five"), ("model", "four"), ("far", "five")]


def test_cases_that_no_cell_has_are_named() -> None:
    assert choose(ROUTES, CASES, [[FIVE], [FOUR]], {}, 600, 1).homeless == ["v"]
    assert names(homes=[[], [FOUR]]) == [("model", "four")]


def test_what_does_not_fit_into_the_budget_is_left_out_but_for_one() -> None:
    durations = {"five/near/pt2/pnnx/cpu": 9.0, "five/model/pt2/pnnx/cpu": 9.0}
    for more, fit in (
        (0.0, ["near"]),
        (14.0, ["near", "far"]),
        (26.0, ["near", "model"]),
        (60.0, ["near", "model", "far"]),
    ):
        chosen = choose(ROUTES, CASES, [[FIVE], []], durations, START + more, 1)
        assert [trial.case for trial in chosen.trials] == fit
        assert len(chosen.late) == 3 - len(fit)


def test_times_of_other_cells_are_taken() -> None:
    chosen = choose(ROUTES, CASES, [[FIVE]], {"other/near/pt2/pnnx/cpu": 99.0}, START + 9, 1)
    assert [trial.case for trial in chosen.trials] == ["near"]


def test_each_version_of_transformers_has_a_cell() -> None:
    assert [each.name for each in wanted(load_cells().values())] == [
        "torch213-tf5",
        "torch213-tf4",
    ]
