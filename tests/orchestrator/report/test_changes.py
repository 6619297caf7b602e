"""What is other than the last time, and the trend: told of merged runs as of the history's."""

from __future__ import annotations

import pytest
from synthetic import cell, failed, passed, report_of, write_run

from orchestrator.expectations import Table
from orchestrator.history import Past
from orchestrator.report import build, merge
from suites.trial import Outcome, Stage


def took(seconds, case="F_relu", **where):
    result = passed(case, **where)
    result.seconds = {"infer": seconds}
    return result


def days(tmp_path, *runs, **facts):
    """A report of runs, a day after another."""
    return report_of(
        *(write_run(tmp_path / f"run{day}", run, day=day, **facts) for day, run in enumerate(runs))
    )


def cases(report, found):
    return [report.rows[each.row].case for each in found]


def test_each_kind_of_change(tmp_path):
    changes = days(
        tmp_path,
        [
            *(passed("broken"), failed("mended"), failed("worse"), failed("elsewhere")),
            *(failed("the_same", diagnostic="3 of 9 differ in the_same"), passed("good")),
        ],
        [
            *(failed("broken"), passed("mended"), failed("worse", diagnostic="aten.bar")),
            failed("elsewhere", stage=Stage.export),
            *(failed("the_same", diagnostic="4 of 9 differ in the_same"), passed("good")),
            passed("new"),
        ],
    )
    report, changes = changes, changes.changes
    assert (changes.since, changes.compared) == (["run0"], 6)
    assert cases(report, changes.failing) == ["broken"]
    assert cases(report, changes.fixed) == ["mended"]
    assert cases(report, changes.reworded) == ["elsewhere", "worse"]
    fixed = changes.fixed[0]
    assert (fixed.run, fixed.what) == ("run0", "failed at convert")
    assert fixed.diagnostic == "aten.foo is not converted"
    assert changes.slower == changes.flaky == []


def test_a_skip_is_no_pass(tmp_path):
    skipped = failed("F_relu", outcome=Outcome.skipped, stage=Stage.build, diagnostic="no GPU")
    report = days(tmp_path, [passed("F_relu")], [skipped])
    assert cases(report, report.changes.failing) == ["F_relu"]


def test_the_first_run_has_nothing_to_compare_with(tmp_path):
    changes = days(tmp_path, [failed("F_relu")]).changes
    assert (changes.since, changes.compared, changes.failing) == ([], 0, [])


def test_a_run_of_one_case_hides_nothing_of_the_others(tmp_path):
    report = days(
        tmp_path,
        [passed("F_relu"), passed("F_elu")],
        [passed("F_elu")],
        [failed("F_relu"), failed("F_elu")],
    )
    assert [change.run for change in report.changes.failing] == ["run1", "run0"]
    assert report.changes.since == ["run0", "run1"]


def test_paths_cells_and_platforms_are_compared_with_themselves(tmp_path):
    first = [passed("F_relu", "a"), failed("F_relu", "b"), failed("F_relu", "a", "ts")]
    report = days(tmp_path, first, first, cells={"a": cell(), "b": cell()})
    assert not report.changes.failing + report.changes.fixed
    runs = [
        write_run(tmp_path / name, [result], cells={"a": cell(platform=name)}, day=day)
        for day, (name, result) in enumerate(
            [("linux", passed("F_relu")), ("win32", failed("F_relu"))]
        )
    ]
    assert report_of(*runs).changes.compared == 0


def test_slower_than_twice_its_usual(tmp_path):
    report = days(tmp_path, *([took(s)] for s in (1.0, 9.0, 1.2, 1.1, 2.9)))
    (slower,) = report.changes.slower
    assert (report.rows[slower.row].case, slower.usual) == ("F_relu", 1.15)


@pytest.mark.parametrize(
    "times",
    [
        (1.0, 1.0, 1.0, 1.9),  # not twice
        (0.1, 0.1, 0.1, 0.55),  # not half a second
        (1.0, 1.0, 5.0),  # not usual yet
    ],
)
def test_not_slower(tmp_path, times):
    assert days(tmp_path, *([took(s)] for s in times)).changes.slower == []


def test_failures_tell_no_usual_time(tmp_path):
    fails = [failed("F_relu")] * 3
    assert days(tmp_path, *([r] for r in fails), [took(60.0)]).changes.slower == []


def test_another_processor_has_other_times(tmp_path, monkeypatch):
    runs = [write_run(tmp_path / f"run{day}", [took(1.0)], day=day) for day in range(3)]
    new = write_run(tmp_path / "new", [took(9.0)], day=9)
    assert report_of(*runs, new).changes.slower
    record = new / "run.json"
    record.write_bytes(record.read_bytes().replace(b"Some CPU", b"Slow CPU"))
    assert report_of(*runs, new).changes.slower == []


def test_a_slow_machine_is_told_once(tmp_path):
    names = [f"case_{number}" for number in range(30)]
    usual = [[took(1.0, name) for name in names]] * 3
    busy = [took(3.0, name) for name in names[1:]]
    report = days(tmp_path, *usual, [took(8.0, names[0]), *busy])
    assert report.changes.pace == 3.0
    assert cases(report, report.changes.slower) == ["case_0"]


def test_flaky(tmp_path):
    good, bad = passed("F_relu"), failed("F_relu")
    report = days(tmp_path, *([each, passed("F_elu")] for each in (good, good, bad, good)))
    (flaky,) = report.changes.flaky
    assert flaky.record == ["passed", "passed", "failed", "passed"]
    assert cases(report, [flaky]) == ["F_relu"]
    assert days(tmp_path / "x", *([each] for each in (good, good, bad, bad))).changes.flaky == []


def test_the_history_is_compared_with_too(tmp_path):
    old = write_run(tmp_path / "old", [passed("F_relu")])
    new = write_run(tmp_path / "new", [failed("F_relu")], day=1)
    past = Past().joined(merge([old, new]).runs)
    report = build(merge([new]), Table([]), {}, past)
    assert cases(report, report.changes.failing) == ["F_relu"]
    # What was run later is no past.
    assert build(merge([old]), Table([]), {}, past).changes.compared == 0
    assert [point.run for point in report.trend] == ["old", "new"]
    assert [point.run for point in build(merge([old]), Table([]), {}, past).trend] == ["old"]


def test_trend(tmp_path):
    both = [took(1.0, "F_relu"), took(2.0, "F_elu"), took(3.0, "F_glu")]
    report = days(
        tmp_path,
        [*both, took(9.0, "gone")],
        both[:1],  # of one case: no point
        [failed("F_relu"), *both[1:]],
        both,
    )
    assert [(point.run, point.passed, point.trials, point.seconds) for point in report.trend] == [
        ("run0", 4, 4, 15.0),
        ("run2", 2, 3, 5.0),
        ("run3", 3, 3, 6.0),
    ]


def test_a_long_trend_ends_with_the_newest(tmp_path):
    trend = days(tmp_path, *([took(1.0)] for _ in range(35))).trend
    assert [point.run for point in trend] == [f"run{day}" for day in range(5, 35)]
