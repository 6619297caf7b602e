"""Structural parity in the report: the graphs that trials kept, compared, with reviewed reasons."""

from __future__ import annotations

import zlib

import pytest
from synthetic import cell, passed, write_run

from orchestrator.expectations import Table
from orchestrator.report import build, merge
from suites.registry import CaseInfo
from suites.reviewed import Reviewed


def graph(op: str = "F.relu", *params: str) -> str:
    words = " ".join([op, "op", "1", "1", "0", "1", *params])
    return f"7767517\n3 2\npnnx.Input in 0 1 0 #0=(1,16)f32\n{words}\npnnx.Output out 1 0 1\n"


def kept(case: str, cell: str, ts: str, pt2: str):
    results = [passed(case, cell, frontend) for frontend in ("ts", "pt2")]
    for result, text in zip(results, (ts, pt2), strict=True):
        result.graph = zlib.compress(text.encode())
    return results


def structure_of(*folders, reasons=None):
    merged = merge(folders)
    cases = {
        trial.case: CaseInfo(trial.case, "functional", "f.py", 1, (), ("pnnx",), ("cpu",), 60.0)
        for _, trial in merged.results
    }
    return build(merged, Table([]), cases, None, reasons).structure


def test_same_and_unlike(tmp_path):
    results = [
        *kept("F_relu", "a", graph(), graph()),
        *kept("F_elu", "a", graph("F.elu", "alpha=1.0"), graph("F.elu", "alpha=2.0")),
        passed("F_glu"),  # by one frontend only
    ]
    found = structure_of(write_run(tmp_path / "run", results))
    assert (found.total.same, found.total.compared) == (1, 2)
    assert (found.suites["functional"].same, found.suites["functional"].compared) == (1, 2)
    (unlike,) = found.unlike
    assert (unlike.case, unlike.cell) == ("F_elu", "a")
    assert unlike.differences == ["changed: F.elu alpha: ts 1.0f, pt2 2.0f"]
    assert unlike.unreviewed == unlike.differences
    assert unlike.reasons == []


def test_reviewed_reasons(tmp_path):
    other = graph("F.elu", "alpha=2.0")
    results = [
        *kept("F_elu", "a", graph("F.elu", "alpha=1.0"), other),
        *kept("F_gelu", "a", graph("F.gelu"), other),
        *kept("F_relu", "a", graph(), graph()),
    ]
    reasons = {
        "F_elu": [Reviewed(("alpha",), "of course")],
        "F_gelu": [Reviewed(("only in ts: F.gelu", "F.silu"), "half of it")],
        "F_relu": [Reviewed((), "once")],
    }
    found = structure_of(write_run(tmp_path / "run", results), reasons=reasons)
    assert [each.case for each in found.unlike] == ["F_gelu", "F_elu"]
    gelu, elu = found.unlike
    assert gelu.reasons == ["half of it"]
    assert gelu.unreviewed == ["only in pt2: F.elu alpha=2.0f -> ?"]
    assert (elu.reasons, elu.unreviewed) == (["of course"], [])
    assert found.outdated == [
        "F_gelu: no longer so: F.silu (half of it)",
        "F_relu: no longer so: any difference (once)",
    ]


def test_a_reason_is_outdated_only_where_no_cell_needs_it(tmp_path):
    results = [
        *kept("F_elu", "a", graph(), graph("F.elu")),
        *kept("F_elu", "b", graph(), graph()),
    ]
    run = write_run(tmp_path / "run", results, cells={"a": cell(), "b": cell()})
    found = structure_of(run, reasons={"F_elu": [Reviewed(("F.elu",), "why")]})
    assert (found.total.same, found.total.compared) == (1, 2)
    assert found.outdated == []


@pytest.mark.parametrize(
    "data", [b"not compressed", zlib.compress(b"\xff\xfe"), zlib.compress(b"7767517\n9 9\n")]
)
def test_a_graph_that_cannot_be_read_is_told(tmp_path, data):
    results = kept("F_relu", "a", graph(), graph())
    results[0].graph = data
    found = structure_of(write_run(tmp_path / "run", results))
    assert found.unlike[0].unreviewed[0].startswith("not compared: ")
    assert found.total.same == 0


def test_a_bomb_is_not_inflated(tmp_path):
    results = kept("F_relu", "a", graph(), graph())
    results[0].graph = zlib.compress(b"7767517\n" + b" " * (1 << 28))
    found = structure_of(write_run(tmp_path / "run", results))
    assert found.unlike[0].unreviewed[0].startswith("not compared: ")
