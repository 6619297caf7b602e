"""What a selection comes to: which cell runs which case, and in what order."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

from orchestrator.cells import Cell, CellError
from orchestrator.errors import UsageError
from orchestrator.plan import Selection, check_suites, plan, select, spread
from suites.registry import CaseInfo


def cell(name: str, *pins: str, suites: tuple[str, ...] | None = None) -> Cell:
    return Cell(name, name, SpecifierSet(), ("torch==2.13.0", *pins), suites, {}, Path("x.toml"))


def case(name: str, suite: str = "functional", **fields: object) -> CaseInfo:
    known: dict[str, object] = {"needs": (), "targets": ("pnnx",), "devices": ("cpu",)}
    known |= {"limit": 60.0, "file": f"{suite}/x.py", "line": 1} | fields
    return CaseInfo(name=name, suite=suite, **known)  # type: ignore[arg-type]


PLAIN = cell("plain", "transformers==5.16.1")
VISION = cell("vision", "transformers==5.16.1", "torchvision==0.28.0")
OLD = cell("old", "transformers==4.48.3", suites=("transformers",))

CASES = [
    case("F_relu", devices=("cpu", "cuda")),
    case("nn_Linear", "modules", targets=("pnnx", "ncnn")),
    case("resnet18", "models", needs=("torchvision",)),
    case("bert", "transformers", needs=("transformers",)),
    case("new", "transformers", needs=("transformers>=5",)),
]


def homes(selection: Selection) -> dict[str, list[str]]:
    """The cells in which each case runs."""
    trials, _ = spread(selection, CASES)
    found: dict[str, list[str]] = {}
    for trial in trials:
        if trial.cell not in found.setdefault(trial.case, []):
            found[trial.case].append(trial.cell)
    return found


def test_each_case_once_in_the_first_cell_that_has_what_it_needs() -> None:
    assert homes(Selection([PLAIN, VISION])) == {
        "F_relu": ["plain"],
        "nn_Linear": ["plain"],
        "resnet18": ["vision"],
        "bert": ["plain"],
        "new": ["plain"],
    }
    assert homes(Selection([OLD, VISION]))["bert"] == ["old"]
    assert homes(Selection([OLD, VISION]))["new"] == ["vision"]


def test_every_cell() -> None:
    assert homes(Selection([PLAIN, VISION, OLD], every_cell=True)) == {
        "F_relu": ["plain", "vision"],
        "nn_Linear": ["plain", "vision"],
        "resnet18": ["vision"],
        "bert": ["plain", "vision", "old"],
        "new": ["plain", "vision"],
    }


def test_trials_of_a_case() -> None:
    trials, _ = spread(Selection([PLAIN], keyword="Linear"), CASES)
    assert sorted(map(str, trials)) == [
        "plain/nn_Linear/pt2/ncnn/cpu",
        "plain/nn_Linear/pt2/pnnx/cpu",
        "plain/nn_Linear/ts/ncnn/cpu",
        "plain/nn_Linear/ts/pnnx/cpu",
    ]
    selection = Selection([PLAIN], frontends=["pt2"], targets=["pnnx"], devices=["cuda"])
    assert list(map(str, spread(selection, CASES)[0])) == ["plain/F_relu/pt2/pnnx/cuda"]


def test_whole_names_and_parts_of_names() -> None:
    cases = [*CASES, case("F_relu6")]

    def chosen(keyword: str = "", *names: str) -> list[str]:
        return [one.name for one in select(cases, keyword, names)]

    assert chosen("F_relu") == ["F_relu", "F_relu6"]
    assert chosen("", "F_relu") == ["F_relu"]
    assert chosen("", "F_relu", "bert") == ["F_relu", "bert"]
    assert chosen("relu", "F_relu", "bert") == ["F_relu"]
    with pytest.raises(UsageError, match="--case F_relu7: there is no such case; did you mean"):
        chosen("", "F_relu", "F_relu7")


def test_the_ts_frontend_has_one_export() -> None:
    selection = Selection([PLAIN], keyword="F_relu", exports=["plain", "decomposed"])
    assert list(map(str, spread(selection, CASES)[0])) == [
        "plain/F_relu/ts/pnnx/cpu",
        "plain/F_relu/pt2/pnnx/cpu",
        "plain/F_relu/pt2/pnnx/cpu/decomposed",
    ]
    with pytest.raises(UsageError, match="the ts frontend has no export strict"):
        spread(Selection([PLAIN], frontends=["ts"], exports=["strict"]), CASES)


def test_notes_say_what_is_not_run() -> None:
    _, notes = spread(Selection([PLAIN, OLD]), CASES)
    assert notes == [
        "not run: resnet18: no named cell has torchvision",
        "cell old: nothing of this selection is left for it; each case runs in the first"
        " named cell that has what it needs, or in each with --every-cell",
    ]
    _, notes = spread(Selection([OLD]), CASES)
    assert notes == [
        "not run: F_relu: no named cell has suite functional, which old does not cover",
        "not run: nn_Linear: no named cell has suite modules, which old does not cover",
        "not run: resnet18: no named cell has suite models, which old does not cover",
        "not run: new: no named cell has transformers>=5",
    ]


@pytest.mark.parametrize(
    ("selection", "says"),
    [
        (Selection([PLAIN], keyword="F_rel7"), "matches no case; did you mean F_relu"),
        (Selection([PLAIN], keyword="resnet"), "nothing to run in plain: not run: resnet18"),
        (
            Selection([PLAIN], keyword="F_relu", targets=["ncnn"]),
            "no selected case has target ncnn",
        ),
    ],
)
def test_nothing_to_run(selection: Selection, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        spread(selection, CASES)


def test_longest_first() -> None:
    cases = {each.name: each for each in [*CASES, case("slow", limit=300.0)]}
    trials, _ = spread(Selection([PLAIN], frontends=["ts"], targets=["pnnx"]), list(cases.values()))
    planned = plan(trials, cases, {"plain/bert/ts/pnnx/cpu": 5.0, "plain/new/ts/pnnx/cpu": 0.1})
    # After bert what is not recorded: first what may take long.
    names = [each.trials[0].case for each in planned]
    assert names == ["bert", "slow", "F_relu", "nn_Linear", "new"]
    assert [each.limit for each in planned] == [60, 300, 60, 60, 60]
    assert {each.limit for each in plan(trials, cases, {}, limit=7)} == {7}


def test_targets_go_together() -> None:
    cases = {each.name: each for each in CASES}
    trials, _ = spread(Selection([PLAIN], keyword="Linear"), CASES)
    times = {"plain/nn_Linear/ts/pnnx/cpu": 5.0, "plain/nn_Linear/ts/ncnn/cpu": 1.0}
    planned = plan(reversed(trials), cases, times)
    assert [[f"{each.frontend} {each.target}" for each in one.trials] for one in planned] == [
        ["ts pnnx", "ts ncnn"],
        ["pt2 pnnx", "pt2 ncnn"],
    ]
    assert planned[0].seconds == 6
    missing = [trial for trial in trials if trial.target == "ncnn"]
    assert [len(one.trials) for one in plan(missing, cases, times)] == [1, 1]


def test_unknown_case_of_an_earlier_plan() -> None:
    trials, _ = spread(Selection([PLAIN], keyword="F_relu"), CASES)
    with pytest.raises(UsageError, match="there is no case 'F_relu'"):
        plan(trials, {"F_relu6": case("F_relu6")}, {})


def test_unknown_suite_of_a_cell() -> None:
    with pytest.raises(CellError, match=r"x\.toml: suites has 'modles'.*did you mean models"):
        check_suites([replace(PLAIN, suites=("modles",))], ["models", "functional"])
