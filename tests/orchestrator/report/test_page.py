"""How the page groups what it lists, and where its charts draw."""

from __future__ import annotations

import datetime
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from synthetic import START, cell, failed, passed, report_of, write_run

from orchestrator.report.model import Point, Share, Structure, Unlike
from orchestrator.report.page import page, short_paths
from orchestrator.report.trend import BOTTOM, LEFT, TOP, WIDTH, percent, trend
from suites.trial import Outcome


@pytest.mark.parametrize(
    ("paths", "short"),
    [
        (["ts → pnnx"], ["ts → pnnx"]),
        (["ts → pnnx", "ts → ncnn", "pt2 → pnnx", "pt2 → ncnn"], ["ts, pt2 → pnnx, ncnn"]),
        (["ts → pnnx", "pt2 → pnnx", "pt2 → ncnn"], ["ts, pt2 → pnnx", "pt2 → ncnn"]),
        (["pt2 strict → pnnx", "pt2 → ncnn on cuda"], ["pt2 strict → pnnx", "pt2 → ncnn on cuda"]),
    ],
)
def test_short_paths(paths, short):
    assert short_paths(paths) == short


def told(report):
    """What the page says of how the cells differ, and the cases that it says that of."""
    section = page(report).partition('id="differences"')[2].partition("</section>")[0]
    texts = re.split(r'class="division"', section)[1:]
    plain = [" ".join(re.sub(r"<[^>]*>", " ", text).split()) for text in texts]
    return [
        (text.partition(">")[2].partition(" F_")[0].strip(), re.findall(r"\bF_\w+", text))
        for text in plain
    ]


def test_differences_that_divide_the_cells_alike_are_told_once(tmp_path):
    cells = {"old": cell(), "new": cell("2.14.1")}
    results = [
        *(passed(f"F_{name}", "old") for name in "abcd"),
        *(failed(f"F_{name}", "new") for name in "abc"),
        failed("F_d", "new", outcome=Outcome.crashed),
    ]
    report = report_of(write_run(tmp_path / "run", results, cells=cells))
    assert told(report) == [
        ("failed at convert where torch ≥ 2.14.1 in new", ["F_a", "F_b", "F_c"]),
        ("crashed at convert where torch ≥ 2.14.1 in new", ["F_d"]),
    ]


def test_where_a_case_passes_is_told_if_only_that_is_known(tmp_path):
    """It fails with torch 2.12 and 2.14, which have nothing in common, and passes with 2.13."""
    cells = {"a": cell("2.12.0"), "b": cell("2.14.0"), "c": cell(env={})}
    results = [failed("F_a", "a"), failed("F_a", "b"), passed("F_a", "c")]
    report = report_of(write_run(tmp_path / "run", results, cells=cells))
    said = told(report)[0][0]
    assert said.startswith("failed at convert where mkl is SSE4_2 in a, b")
    report.differences[0].sides[0].where = []
    assert told(report)[0][0] == "failed at convert in a, b passed where mkl is native in c"


def points(values):
    return [
        Point(
            run=f"run{number}", started=START + datetime.timedelta(days=number),
            trials=trials, passed=passed, seconds=seconds,
        )
        for number, (trials, passed, seconds) in enumerate(values)
    ]  # fmt: skip


counts = st.tuples(st.integers(0, 20_000), st.floats(0, 1)).map(
    lambda it: (it[0], int(it[0] * it[1]))
)


@given(st.lists(st.tuples(counts, st.floats(0, 1e6)), min_size=2, max_size=40))
def test_charts_stay_within_their_field(values):
    charts = trend(points([(*pair, seconds) for pair, seconds in values]))
    assert len(charts) == 2
    for chart in charts:
        assert len(chart.marks) == len(values)
        assert [mark.x for mark in chart.marks] == sorted(mark.x for mark in chart.marks)
        for mark in chart.marks:
            assert LEFT <= mark.x <= WIDTH
            assert TOP <= mark.y <= BOTTOM
        assert [tick.y for tick in chart.ticks] == [TOP, (TOP + BOTTOM) / 2, BOTTOM]


def test_one_run_is_no_trend():
    assert trend(points([(10, 10, 5.0)])) == []
    assert trend([]) == []


def test_what_charts_say():
    rates, seconds = trend(points([(1592, 1592, 1234.0), (1592, 1591, 98.4), (10, 9, 4.25)]))
    assert rates.values == ["100%", "99.9%", "90%"]
    assert seconds.values == ["21 min", "98 s", "4.2 s"]
    assert rates.now == "90%"
    assert rates.marks[1].text == "run1: 99.9%, 1,591 of 1,592 passed"


@given(st.integers(1, 100_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_a_hundred_percent_is_all(share):
    part, whole = share
    assert (percent(part, whole) == "100%") is (part == whole)


def test_graphs_that_differ_alike_in_several_cells_are_told_once(tmp_path):
    report = report_of(write_run(tmp_path / "run", [passed("F_relu")]))
    lines = [f"only in ts: nn.Thing{number} <x>" for number in range(40)]
    report.structure = Structure(
        total=Share(same=1, compared=3),
        suites={"functional": Share(same=1, compared=3)},
        unlike=[
            Unlike(
                case="F_relu", suite="functional", cell=label, differences=lines, reasons=["why"],
                unreviewed=lines[-1:],
            )
            for label in "ab"
        ],
    )  # fmt: skip
    text = page(report)
    assert text.count("nn.Thing39 &lt;x&gt;") == 1, "what no one reviewed comes first"
    assert "nn.Thing20" not in text
    assert "28 more are in report.json." in text
    assert "in a, b" in text
    assert "33.3%" in text
