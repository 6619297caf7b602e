"""What results have in common: groups, clusters, differences and what tells cells apart."""

from __future__ import annotations

import msgspec
import pytest
from synthetic import cell, failed, passed, report_of, write_run

from orchestrator.expectations import Expectation, Facts
from orchestrator.expectations.when import When
from orchestrator.report.differences import apart
from orchestrator.report.junit import junit
from orchestrator.report.page import page
from suites.trial import Outcome, Stage

CELLS = {
    "tf4": cell(packages={"transformers": "4.48.3"}),
    "tf5": cell(),
    "next": cell("2.14.1+cpu"),
}


def in_cells(case, *bad, **kwargs):
    return [failed(case, name, **kwargs) if name in bad else passed(case, name) for name in CELLS]


def test_differences_name_the_versions_that_tell_cells_apart(tmp_path):
    results = [*in_cells("torch_topk", "next"), *in_cells("nn_GRU", "tf4"), *in_cells("F_relu")]
    report = report_of(write_run(tmp_path / "run", results, cells=CELLS))
    gru, topk = report.differences
    assert (gru.case, gru.paths) == ("nn_GRU", ["pt2 → pnnx"])
    assert [(side.cells, side.where) for side in gru.sides] == [
        (["next", "tf5"], ["transformers ≥ 5.16.1"]),
        (["tf4"], ["transformers ≤ 4.48.3"]),
    ]
    assert topk.sides[1].where == ["torch ≥ 2.14.1"]
    assert report.rows[topk.sides[1].rows[0]].outcome is Outcome.failed


def test_differences_have_the_verdict_of_each_cell_and_the_worst_come_first(tmp_path):
    entries = [
        Expectation(
            case=case, frontend="pt2", target="pnnx", when=when, outcome=Outcome.failed,
            stage=Stage.convert, diagnostic="aten.foo", reason="not yet", file="t.toml", line=1,
            condition=When.parse(when, {"torch", "transformers"}),
        )
        for case, when in (("F_elu", "torch>=2.14"), ("F_relu", "transformers<5"))
    ]  # fmt: skip
    elu, relu = in_cells("F_elu", "next"), in_cells("F_relu", "tf4", "next")
    report = report_of(write_run(tmp_path / "run", [*elu, *relu], cells=CELLS), entries=entries)
    assert [difference.case for difference in report.differences] == ["F_relu", "F_elu"]
    side = report.differences[0].sides[0]
    assert side.cells == ["next", "tf4"]
    verdicts = [report.rows[number].verdict for number in side.rows]
    assert verdicts == ["unexpected", "expected"]
    shown = page(report)
    for name, verdict in zip(side.cells, verdicts, strict=True):
        assert f'aria-label="F_relu in {name}: failed at convert, {verdict}"' in shown


def test_paths_with_the_same_differences_are_one(tmp_path):
    results = [
        failed("nn_GRU", name, frontend) if name == "next" else passed("nn_GRU", name, frontend)
        for name in CELLS
        for frontend in ("pt2", "ts")
    ]
    report = report_of(write_run(tmp_path / "run", results, cells=CELLS))
    assert [d.paths for d in report.differences] == [["ts → pnnx", "pt2 → pnnx"]]


def test_the_same_failure_everywhere_is_no_difference(tmp_path):
    results = [
        failed("F_relu", name, diagnostic=f"aten.foo fails in /venv/{name}/x.py") for name in CELLS
    ]
    report = report_of(write_run(tmp_path / "run", results, cells=CELLS))
    assert report.differences == []
    (group,) = report.attention
    assert report.places(group.rows) == ["pt2 → pnnx in all 3 cells"]


def test_another_diagnostic_is_a_difference(tmp_path):
    results = [failed("F_relu", name, diagnostic=f"no operator {name}") for name in ("tf4", "tf5")]
    report = report_of(write_run(tmp_path / "run", results, cells=CELLS))
    assert len(report.differences) == 1


def test_clusters_are_the_largest_first_and_attention_is_by_case(tmp_path):
    results = [
        failed("F_relu", diagnostic="lone"),
        *(failed(f"case_{n}", diagnostic=f"case_{n}: {n} values differ") for n in range(3)),
        passed("F_elu"),
    ]
    report = report_of(write_run(tmp_path / "run", results))
    assert [(len(c.rows), c.pattern) for c in report.clusters] == [
        (3, "CASE: N values differ"),
        (1, "lone"),
    ]
    assert len(report.attention) == 4
    assert report.verdicts == {"unexpected": 4, "stale": 0, "expected": 0, "ok": 1}
    assert report.outcomes["failed"] == 4
    assert report.status == 1


def test_texts_are_kept_once(tmp_path):
    results = [failed(case, diagnostic="the same") for case in ("F_relu", "F_elu")]
    report = report_of(write_run(tmp_path / "run", results))
    assert report.diagnostics == ["the same"]
    assert [report.diagnostic(row) for row in report.rows] == ["the same", "the same"]


def test_a_result_of_a_cell_without_a_runner(tmp_path):
    skipped = failed("F_relu", outcome=Outcome.skipped, stage=Stage.build, diagnostic="no GPU")
    report = report_of(write_run(tmp_path / "run", [skipped], cells={}))
    assert [row.verdict for row in report.rows] == ["unexpected"]
    assert report.cells[0].record is None


def facts(*versions, **markers):
    names = ("torch", "transformers")
    packages = {name: v for name, v in zip(names, versions, strict=False) if v is not None}
    return Facts(packages, markers)


@pytest.mark.parametrize(
    ("own", "others", "told"),
    [
        ([facts("2.14")], [facts("2.12"), facts("2.13")], ["torch ≥ 2.14"]),
        ([facts("2.12")], [facts("2.13")], ["torch ≤ 2.12"]),
        ([facts("2.13")], [facts("2.12"), facts("2.14")], []),
        ([facts("2.13+cpu")], [facts("2.13+cpu")], []),
        ([facts("2.13", "5")], [facts("2.13")], ["with transformers"]),
        ([facts("2.13")], [facts("2.13", "5")], ["without transformers"]),
        ([facts("2.13", "5"), facts("2.13")], [facts("2.13", "4")], []),
        ([facts(mkl="native")], [facts(mkl="SSE4_2"), facts(mkl="AVX2")], ["mkl is native"]),
        ([facts(mkl="native")], [facts(mkl="native"), facts(mkl="AVX2")], []),
        ([facts(mkl="native")], [facts()], []),
        ([facts("dev build")], [facts("2.13")], []),
    ],
)
def test_apart(own, others, told):
    assert [str(condition) for condition in apart(own, others)] == told


def test_exports_are_paths_of_their_own(tmp_path):
    plain, strict = passed("F_relu"), failed("F_relu")
    strict.trial = msgspec.structs.replace(strict.trial, export="strict")
    report = report_of(write_run(tmp_path / "run", [strict, plain]))
    assert [row.path for row in report.rows] == ["pt2 → pnnx", "pt2 strict → pnnx"]
    assert report.rows[1].command.endswith("--device cpu --export strict")
    assert "--export" not in report.rows[0].command
    assert 'name="F_relu[pt2-pnnx-cpu-strict]"' in junit(report)


def test_cases_that_run_on_request_are_asked_for_by_their_suite(tmp_path):
    folder = write_run(tmp_path / "run", [failed("selfcheck_values")])
    assert report_of(folder, suites="selfcheck").rows[0].command.endswith(" --suite selfcheck")
    assert "--suite" not in report_of(folder).rows[0].command
