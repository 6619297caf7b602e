"""Which cases changed files affect, on a small repository laid out as this one is."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest
from repositories import Repository

from orchestrator.errors import UsageError
from orchestrator.prepush.affected import (
    SMOKED,
    Affected,
    Sources,
    affected,
    named,
)
from orchestrator.prepush.diff import changes
from orchestrator.prepush.index import Entry, Index, Way
from orchestrator.prepush.smoke import SMOKE
from suites import registry
from suites.registry import CaseInfo

FILES = {
    "converter/aten/rows.py": 'same("relu.default", "F.relu")\n\n\ndef helper(): ...\n',
    "converter/cli.py": "def main(): ...\n",
    "suites/functional/act.py": (
        "def shared(): ...\n\n\n"
        "@case(inputs=[])\nclass F_relu:\n    pass\n\n\n"
        "@case(inputs=[])\nclass F_silu:\n    x = shared()\n"
    ),
    "suites/selfcheck/wrong.py": "@case(inputs=[])\nclass selfcheck_wrong:\n    pass\n",
    "suites/expectations/t.toml": (
        '[[expect]]\ncase = "F_relu"\nreason = "x"\n\n[[expect]]\ncase = "F_silu"\n'
    ),
    "suites/case.py": "def case(**words): ...\n",
    "orchestrator/plan.py": "",
    "docs/page.md": "",
    "README.md": "",
}
CASES = {
    name: CaseInfo(name, suite, f"{suite}/{file}", 1, (), ("pnnx",), ("cpu",), 9.0)
    for name, suite, file in (
        ("F_relu", "functional", "act.py"),
        ("F_silu", "functional", "act.py"),
        ("nn_LSTM", "modules", "rnn.py"),
        ("selfcheck_wrong", "selfcheck", "wrong.py"),
    )
}
NOW = datetime.datetime(2026, 12, 1, tzinfo=datetime.UTC)
INDEX = Index([Entry(Way("F_relu", "pnnx", "plain"), NOW, ("aten/rows.py:relu.default",))])
BOTH = {"ts", "pt2"}


@pytest.fixture
def made(tmp_path: Path) -> Repository:
    made = Repository(tmp_path)
    write(made, FILES)
    made.commit()
    return made


def write(made: Repository, files: dict[str, str]) -> None:
    for name, text in files.items():
        file = made.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def after(made: Repository, name: str, old: str = "", new: str = "", *, index: Index = INDEX):
    """What a change of one file affects."""
    before = made.git("rev-parse", "HEAD")
    text = FILES.get(name, "")
    assert old in text
    write(made, {name: text.replace(old, new, 1) if old else text + new})
    sources = Sources(made.folder, made.git, before)
    return affected(changes(made.git, before, made.commit()), sources, index, CASES)


def close(found: Affected) -> set[tuple[str, str]]:
    return {(route.case, route.frontend) for route, near in found.routes.items() if near < SMOKED}


def smoked(found: Affected) -> set[str]:
    return {route.frontend for route, near in found.routes.items() if route.case == "nn_LSTM"}


def test_a_rule_affects_the_cases_that_went_through_it(made: Repository) -> None:
    found = after(made, "converter/aten/rows.py", '"F.relu"', '"F.relu6"')
    assert close(found) == {("F_relu", "pt2")}
    assert smoked(found) == {"pt2"}, "the other frontend does not use the converter"


def test_a_helper_of_no_rule_affects_all_rules_of_its_file(made: Repository) -> None:
    assert close(after(made, "converter/aten/rows.py", "helper()", "helper(x)")) == {
        ("F_relu", "pt2")
    }


def test_a_rule_that_is_deleted_affects_those_that_went_through_it(made: Repository) -> None:
    found = after(made, "converter/aten/rows.py", 'same("relu.default", "F.relu")\n', "")
    assert close(found) == {("F_relu", "pt2")}


def test_another_file_of_the_converter_is_for_the_smoke_set(made: Repository) -> None:
    found = after(made, "converter/cli.py", "main()", "main(words)")
    assert (close(found), smoked(found)) == (set(), {"pt2"})


def test_comments_affect_nothing_but_the_smoke_set(made: Repository) -> None:
    assert close(after(made, "converter/aten/rows.py", new="# why\n")) == set()


def test_without_an_index_the_smoke_set_stands_in_and_the_mend_is_told(made: Repository) -> None:
    found = after(made, "converter/aten/rows.py", '"F.relu"', '"F.relu6"', index=Index())
    assert (close(found), smoked(found)) == (set(), {"pt2"})
    assert "nox -s pt2" in found.notes[0]


def test_what_the_index_lacks_is_told(made: Repository) -> None:
    """It is of the runs that were made: a rule may have cases that none of them had."""
    found = after(made, "converter/aten/rows.py", '"F.relu"', '"F.relu6"')
    (note,) = found.notes
    assert note.startswith("the index lacks 2 of 4 cases")
    assert "nox -s pt2" in note
    whole = Index(
        [Entry(Way(case, "pnnx", "plain"), NOW, ("aten/rows.py:relu.default",)) for case in CASES]
    )
    assert after(made, "converter/aten/rows.py", '"F.relu"', '"F.elu"', index=whole).notes == []


def test_a_case_is_run_through_both_frontends(made: Repository) -> None:
    found = after(made, "suites/functional/act.py", "class F_relu:\n", "class F_relu:\n    y = 1\n")
    assert close(found) == {("F_relu", frontend) for frontend in BOTH}
    assert not smoked(found)


def test_what_cases_share_affects_those_that_use_it(made: Repository) -> None:
    found = after(made, "suites/functional/act.py", "def shared(): ...", "def shared(): pass")
    assert close(found) == {("F_silu", frontend) for frontend in BOTH}


def test_an_expectation_affects_the_case_of_its_entry(made: Repository) -> None:
    found = after(made, "suites/expectations/t.toml", 'reason = "x"', 'reason = "y"')
    assert close(found) == {("F_relu", frontend) for frontend in BOTH}


def test_an_entry_that_is_deleted_affects_its_case(made: Repository) -> None:
    found = after(made, "suites/expectations/t.toml", '[[expect]]\ncase = "F_silu"\n', "")
    assert close(found) == {("F_silu", frontend) for frontend in BOTH}


def test_a_case_beside_it_hides_nothing_that_everything_depends_on(made: Repository) -> None:
    write(made, {"suites/case.py": "def case(**words): return 1\n"})
    found = after(made, "suites/functional/act.py", "class F_relu:\n    pass", "class F_relu: ...")
    assert close(found) == {("F_relu", frontend) for frontend in BOTH}
    assert smoked(found) == BOTH


@pytest.mark.parametrize("name", ["suites/case.py", "orchestrator/plan.py", "envs/new.toml"])
def test_what_everything_depends_on_is_for_the_smoke_set(made: Repository, name: str) -> None:
    found = after(made, name, new="x = 1\n")
    assert (close(found), smoked(found)) == (set(), BOTH)


@pytest.mark.parametrize("name", ["docs/page.md", "README.md", "tests/x.py", ".gitignore"])
def test_what_no_trial_reads_affects_nothing(made: Repository, name: str) -> None:
    assert not after(made, name, new="x = 1\n").routes


def test_deliberately_wrong_cases_are_not_run(made: Repository) -> None:
    found = after(made, "suites/selfcheck/wrong.py", "pass", "x = 1")
    assert (close(found), smoked(found)) == (set(), BOTH)


def test_nothing_to_compare_with_is_for_the_smoke_set(made: Repository) -> None:
    found = affected(None, Sources(made.folder, made.git, ""), INDEX, CASES)
    assert smoked(found) == BOTH
    assert "nothing to compare with" in found.notes[0]


def test_a_file_that_is_not_python_is_told(made: Repository) -> None:
    with pytest.raises(UsageError, match=r"converter/aten/rows.py:\d+: not Python"):
        after(made, "converter/aten/rows.py", new="def (\n")


def test_an_entry_is_from_its_head_to_the_next() -> None:
    lines = FILES["suites/expectations/t.toml"].split("\n")
    assert [named(lines, {number}) for number in (2, 3, 6, 7)] == [
        {"F_relu"},
        {"F_relu"},
        {"F_silu"},
        {"F_silu"},
    ]


def test_the_smoke_set_is_of_cases_that_there_are() -> None:
    cases = registry.index()
    assert len({cases[name].suite for name in SMOKE}) >= 6
    assert len(SMOKE) == len(set(SMOKE))
