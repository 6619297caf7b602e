"""Which rules a changed line reaches, on small sources."""

from __future__ import annotations

from textwrap import dedent

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.prepush.units import Module, Units

ROWS = """
    from converter.aten.registry import lowers, same
    from converter.helpers import shared

    same("relu.default", "F.relu")
    for plain in (
        "mish",
        "silu",
    ):
        same(f"{plain}.default", f"F.{plain}")

    LIMIT = 6


    @lowers("clamp.default")
    def clamp(call):
        return shared(call, LIMIT)


    @lowers("exp.default")
    def exp(call):
        return helper(call)


    def helper(call):
        return call
"""
SHARED = """
    def shared(call, limit):
        return inner(call)


    def inner(call):
        return call


    def alone(call):
        return call
"""
PASSES = """
    from converter.table import Row

    HARD = '''
        clamp x
    '''
    TABLE = (
        Row("F.hard", HARD),
        Row(
            "F.soft",
            beta=1,
        ),
    )
"""
SPELLED = """
    from converter.aten.registry import same

    for rank in (1, 2):
        same(f"conv{rank}d.default", f"F.conv{rank}d")
    same("linear.default", "F.linear")
"""
SOURCES = {
    "aten/spelled.py": dedent(SPELLED).lstrip(),
    "aten/rows.py": dedent(ROWS).lstrip(),
    "aten/registry.py": "def lowers(name): ...\n\n\ndef same(name, type): ...\n",
    "helpers.py": dedent(SHARED).lstrip(),
    "passes/table.py": dedent(PASSES).lstrip(),
    "table.py": "class Row:\n    size = 1\n",
}
RULES = {
    *(f"aten/spelled.py:{name}.default" for name in ("conv1d", "conv2d", "linear")),
    *(f"aten/rows.py:{name}.default" for name in ("relu", "mish", "silu")),
    *(f"aten/rows.py:{name}" for name in ("clamp", "exp")),
    *(f"passes/table.py:Row of {name}" for name in ("F.hard", "F.soft")),
}
UNITS = Units("converter", SOURCES)


def reached(file: str, text: str) -> dict[str, int]:
    """By the line that has a text, with the rules' files left out."""
    lines = SOURCES[file].splitlines()
    number = next(number for number, line in enumerate(lines, 1) if text in line)
    found = UNITS.reached(UNITS.modules[file], {number}, RULES)
    return {rule.partition(":")[2]: steps for rule, steps in found.items()}


def test_a_function_is_its_rule() -> None:
    assert reached("aten/rows.py", "return shared(call, LIMIT)") == {"clamp": 0}
    assert reached("aten/rows.py", '@lowers("clamp') == {"clamp": 0}


def test_a_row_is_told_by_what_its_line_names() -> None:
    assert reached("aten/rows.py", '"relu.default"') == {"relu.default": 0}
    assert reached("aten/rows.py", '"mish"') == {"mish.default": 0}
    assert reached("passes/table.py", '"F.hard"') == {"Row of F.hard": 0}


def test_a_line_that_names_none_is_of_the_row_around_it() -> None:
    assert reached("passes/table.py", "beta=1") == {"Row of F.soft": 0}


def test_a_helper_reaches_who_calls_it_through_imports_and_other_helpers() -> None:
    assert reached("aten/rows.py", "def helper") == {"exp": 1}
    assert reached("helpers.py", "def shared") == {"clamp": 1}
    assert reached("helpers.py", "def inner") == {"clamp": 2}
    assert reached("helpers.py", "def alone") == {}


def test_a_constant_reaches_the_row_that_has_it() -> None:
    assert reached("aten/rows.py", "LIMIT = 6") == {"clamp": 1}
    assert reached("passes/table.py", "clamp x") == {"Row of F.hard": 1}


def test_what_makes_rows_reaches_all_of_them() -> None:
    assert reached("table.py", "size = 1") == {"Row of F.hard": 1, "Row of F.soft": 1}
    rows = {"relu", "mish", "silu", "conv1d", "conv2d", "linear"}
    assert reached("aten/registry.py", "def same") == {f"{name}.default": 1 for name in rows}


def test_a_loop_reaches_the_rows_that_it_names_or_every_row_of_its_file() -> None:
    assert reached("aten/rows.py", "same(f") == {"mish.default": 0, "silu.default": 0}
    rows = {"conv1d.default": 0, "conv2d.default": 0, "linear.default": 0}
    assert reached("aten/spelled.py", "same(f") == rows


def test_what_was_deleted_is_looked_up_in_the_version_before() -> None:
    after = Units("converter", SOURCES | {"helpers.py": "def alone(call): ...\n"})
    before = Module("converter", "helpers.py", SOURCES["helpers.py"])
    assert after.reached(before, {1}, RULES) == {}  # nobody can call it now
    gone = "@lowers('log.default')\ndef log(call): ...\n"
    before = Module("converter", "aten/rows.py", gone)
    assert UNITS.reached(before, {2}, {"aten/rows.py:log"}) == {"aten/rows.py:log": 0}


@given(st.data())
def test_more_lines_reach_more(data: st.DataObject) -> None:
    """Every line of every file: what two sets of lines reach is what each of them reaches."""
    file = data.draw(st.sampled_from(sorted(SOURCES)))
    numbers = st.sets(st.integers(1, len(SOURCES[file].splitlines()) + 2))
    one, two = data.draw(numbers), data.draw(numbers)
    module = UNITS.modules[file]
    both = UNITS.reached(module, one | two, RULES)
    apart = [UNITS.reached(module, lines, RULES) for lines in (one, two)]
    assert both.keys() == apart[0].keys() | apart[1].keys()
    for rule, steps in both.items():
        assert steps == min(each[rule] for each in apart if rule in each)
