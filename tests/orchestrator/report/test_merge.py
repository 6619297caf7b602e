"""Runs put together: newest wins, contradictions are told, damage is named and left out."""

from __future__ import annotations

import shutil
import time

import msgspec
import pytest
from synthetic import cell, failed, passed, report_of, write_run

from orchestrator.report import RunError, merge
from orchestrator.report.page import page
from suites.trial import Outcome, Trial


def outcomes(report):
    return {(row.cell, row.case): row.outcome for row in report.rows}


@pytest.mark.parametrize("order", [1, -1])
def test_the_newest_result_counts(tmp_path, order):
    old = write_run(tmp_path / "b", [failed("F_relu"), passed("F_elu")], day=0)
    new = write_run(tmp_path / "a", [passed("F_relu")], day=1)
    report = report_of(*[old, new][::order])
    assert outcomes(report) == {("a", "F_relu"): "passed", ("a", "F_elu"): "passed"}
    assert {row.case: row.run for row in report.rows} == {"F_relu": "a", "F_elu": "b"}
    assert [run.run for run in report.runs] == ["b", "a"]
    assert report.status == 0


def test_a_result_is_judged_by_the_facts_of_its_own_run(tmp_path):
    from orchestrator.expectations import Expectation
    from orchestrator.expectations.when import When
    from suites.trial import Stage

    entry = Expectation(
        case="F_relu", frontend="pt2", target="pnnx", when="torch<2.13", outcome=Outcome.failed,
        stage=Stage.convert, diagnostic="aten.foo", reason="not yet", file="t.toml", line=1,
        condition=When.parse("torch<2.13", {"torch"}),
    )  # fmt: skip
    old = write_run(tmp_path / "old", [failed("F_relu")], cells={"a": cell("2.12.1")})
    new = write_run(tmp_path / "new", [passed("F_elu")], cells={"a": cell("2.13.0")}, day=1)
    report = report_of(old, new, entries=[entry])
    assert [row.verdict for row in report.rows] == ["ok", "expected"]


def test_contradictions_are_told(tmp_path):
    first = write_run(tmp_path / "one", [passed("F_relu")], cells={"a": cell("2.13.0+cpu")})
    second = write_run(
        tmp_path / "two",
        [passed("F_elu")],
        cells={"a": cell("2.13.0+cu130", packages={"pillow": "12.0"})},
        day=1,
    )
    assert merge([first, second]).conflicts == [
        "a: pillow is absent in one; 12.0 in two",
        "a: torch is 2.13.0+cpu in one; 2.13.0+cu130 in two",
    ]
    assert merge([first]).conflicts == []


def test_pins_contradict_nothing_and_stand_in_for_no_facts(tmp_path):
    """A run that skips all of a cell's trials starts no runner there."""
    ran = write_run(tmp_path / "ran", [passed("F_relu")], cells={"a": cell()})
    pins = cell(python="", machine="", threads=None)
    pins.packages = {"torch": "2.13.0"}
    skipped = write_run(tmp_path / "skipped", [failed("F_elu")], cells={"a": pins}, day=1)
    merged = merge([ran, skipped])
    assert merged.conflicts == []
    assert merged.columns["a"].record == cell()
    assert merge([skipped]).columns["a"].record == pins
    assert "None" not in page(report_of(skipped))


def test_a_cell_on_two_platforms_is_two_columns(tmp_path):
    linux = write_run(tmp_path / "one", [failed("F_relu")])
    windows = write_run(
        tmp_path / "two", [passed("F_relu")], cells={"a": cell(platform="win32")}, day=1
    )
    report = report_of(linux, windows)
    assert outcomes(report) == {("a@linux", "F_relu"): "failed", ("a@win32", "F_relu"): "passed"}
    assert [side.where for side in report.differences[0].sides] == [
        ["platform is linux"],
        ["platform is win32"],
    ]
    assert report.conflicts == []
    assert "--cell a --case" in report.rows[0].command


def test_what_was_planned_and_not_done(tmp_path):
    trials = [Trial("F_relu", "a", "ts", "pnnx"), Trial("F_elu", "a", "ts", "pnnx")]
    killed = write_run(tmp_path / "killed", [], plan=trials)
    report = report_of(killed)
    assert [(m.run, m.case) for m in report.missing] == [("killed", "F_elu"), ("killed", "F_relu")]
    assert report.status == 3
    later = write_run(tmp_path / "later", [passed("F_relu", frontend="ts")], day=1)
    assert [m.case for m in report_of(killed, later).missing] == ["F_elu"]


def test_a_torn_last_line_is_a_missing_result(tmp_path):
    run = write_run(tmp_path / "run", [passed("F_relu"), passed("F_elu")])
    data = (run / "results.jsonl").read_bytes()
    (run / "results.jsonl").write_bytes(data[:-20])
    report = report_of(run)
    assert [m.case for m in report.missing] == ["F_elu"]
    assert (report.warnings, report.status) == ([], 3)


def damage_record(run):
    file = run / "run.json"
    file.write_bytes(file.read_bytes()[:-1])
    return file


def foreign_format(run):
    file = run / "run.json"
    file.write_bytes(file.read_bytes().replace(b'"format":1', b'"format":99'))
    return file


def damage_results(run):
    file = run / "results.jsonl"
    file.write_bytes(b"{}\n" + file.read_bytes())
    return file


def foreign_name(run):
    file = run / "results.jsonl"
    file.write_bytes(file.read_bytes().replace(b"F_relu", b"../F relu"))
    return run


def foreign_frontend(run):
    file = run / "results.jsonl"
    file.write_bytes(file.read_bytes().replace(b"pt2", b"onnx"))
    return run


def foreign_platform(run):
    file = run / "run.json"
    file.write_bytes(file.read_bytes().replace(b"linux", b"li\\u202enux"))
    return file


def no_date(run):
    file = run / "run.json"
    file.write_bytes(file.read_bytes().replace(b'"started":"2026', b'"started":"0001'))
    return file


def endless_time(run):
    file = run / "results.jsonl"
    file.write_bytes(file.read_bytes().replace(b'"convert":', b'"convert":1e300,"load":'))
    return file


def foreign_stage(run):
    file = run / "results.jsonl"
    file.write_bytes(file.read_bytes().replace(b'"convert":', b'"deploy":'))
    return file


def twice_and_a_command(run):
    file = run / "results.jsonl"
    line = file.read_bytes().replace(b"F_relu", b"\\n::error::\\u001b[31m", 1)
    file.write_bytes(line * 2)
    return file


def lost_record(run):
    (run / "run.json").unlink()
    (run / "report.json").write_text("{}")
    return run / "run.json"


def lost_in_a_loop(run):
    shutil.rmtree(run)
    run.symlink_to(run.name)
    return run


def naive_time(run):
    file = run / "run.json"
    file.write_bytes(file.read_bytes().replace(b"00:00Z", b"00:00"))
    return file


def empty(run):
    shutil.rmtree(run)
    run.mkdir()
    return run / "run.json"


def absent(run):
    shutil.rmtree(run)
    return run


@pytest.mark.parametrize(
    "damage",
    [
        damage_record,
        foreign_format,
        foreign_platform,
        naive_time,
        no_date,
        endless_time,
        foreign_stage,
        twice_and_a_command,
        lost_record,
        lost_in_a_loop,
        damage_results,
        foreign_name,
        foreign_frontend,
        empty,
        absent,
    ],
)
def test_damage_is_named_and_left_out(tmp_path, damage):
    good = write_run(tmp_path / "good", [passed("F_relu")])
    bad = write_run(tmp_path / "bad", [failed("F_relu")], day=1)
    file = damage(bad)
    report = report_of(good, bad)
    (warning,) = report.warnings
    assert str(file) in warning
    assert "\n" not in warning
    assert outcomes(report) == {("a", "F_relu"): "passed"}
    assert report.status == 3
    with pytest.raises(RunError, match="left out"):
        merge([bad])


def test_no_run_at_all():
    with pytest.raises(RunError, match="no run to report"):
        merge([])


def test_what_lies_beside_runs_is_no_damage(tmp_path):
    run = write_run(tmp_path / "run", [passed("F_relu")])
    (tmp_path / "history.sqlite").write_bytes(b"")
    (tmp_path / "report").mkdir()
    (tmp_path / "report" / "report.json").write_bytes(b"{}")
    merged = merge([*sorted(tmp_path.iterdir()), run])
    assert (len(merged.runs), merged.warnings) == (1, [])


def test_two_runs_of_one_name(tmp_path):
    linux = write_run(tmp_path / "x" / "run", [passed("F_relu")], cells={"a": cell("2.12.1")})
    other = write_run(tmp_path / "y" / "run", [passed("F_elu")], cells={"a": cell("2.13.0")}, day=1)
    report = report_of(linux, other)
    assert len(report.rows) == 2
    assert report.conflicts == ["a: torch is 2.12.1 in run; 2.13.0 in run"]


def test_twenty_runs_merge_fast(tmp_path):
    cases = [f"case_{number}" for number in range(398)]
    for day in range(20):
        results = [
            passed(case, frontend=frontend, target=target)
            for case in cases
            for frontend in ("ts", "pt2")
            for target in ("pnnx", "ncnn")
        ]
        write_run(tmp_path / f"run{day:02}", results, day=day)
    since = time.process_time()
    merged = merge(tmp_path.iterdir())
    assert time.process_time() - since < 3
    assert len(merged.results) == 1592
    assert {newest.run.run for newest in merged.results.values()} == {"run19"}


def test_the_record_says_what_the_report_says(tmp_path):
    run = write_run(tmp_path / "run", [passed("F_relu")])
    report = report_of(run)
    assert msgspec.to_builtins(report.runs[0])["commit"] == "0123456789abcdef"
    assert report.cells[0].record == cell()
