"""Every form of a report: whole, well formed, and nothing in it does what a diagnostic says."""

from __future__ import annotations

import html
import re
import zlib
from html.parser import HTMLParser
from xml.etree import ElementTree

import msgspec
import pytest
from synthetic import HOSTILE, cell, failed, passed, report_of, write_run

from orchestrator.report import Report, summary, write
from orchestrator.report.markdown import markdown
from orchestrator.report.model import Difference, Side
from orchestrator.report.page import page
from orchestrator.spelling import command
from suites.trial import Outcome, Stage, Trial

VOID = {"meta", "input", "link", "br", "hr"}


class Reader(HTMLParser):
    """Checks that elements nest; collects scripts, identifiers, links and the text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.scripts: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        for name, value in attrs:
            assert not name.startswith("on"), f"{tag} {name}"
            if name == "id":
                self.ids.append(value)
            if name in ("href", "src"):
                self.links.append(value)
        if tag not in VOID:
            self.open.append(tag)
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts[-1] += data
        elif self.open and self.open[-1] != "style":
            self.text += data


@pytest.fixture
def hostile(tmp_path):
    results = [
        failed("F_relu", diagnostic=HOSTILE),
        failed("F_elu", diagnostic="x" * 1_000_000),
        failed("F_celu", outcome=Outcome.crashed, diagnostic="killed by SIGSEGV"),
        failed("F_glu", outcome=Outcome.skipped, stage=Stage.build, diagnostic="no GPU"),
        failed("F_relu", "b", diagnostic=HOSTILE * 2),
        passed("F_gelu"),
    ]
    cells = {"a": cell(packages={HOSTILE: HOSTILE}, env={"OMP_X": HOSTILE}), "b": cell("2.14.1")}
    plan = [*(result.trial for result in results), Trial("F_mish", "a", "ts", "pnnx")]
    run = write_run(tmp_path / "results" / "<b>run", results, cells=cells, plan=plan)
    return report_of(run, suites="functional")


def test_page_is_well_formed_and_runs_only_its_own_script(hostile):
    text = page(hostile)
    reader = Reader(text)
    assert len(reader.scripts) == 2
    assert "alert(1)" not in reader.scripts[1]
    assert reader.tags.count("script") == 2
    assert len(reader.ids) == len(set(reader.ids))
    assert all(link.startswith("#") for link in reader.links), "the page needs the network"
    assert not re.search(r"[\x00-\x08\x0b-\x1f\u202a-\u202e\u2066-\u2069]", text)
    assert "<script>alert(1)</script> ]]>" in reader.text
    assert "{{ 7*7 }}" in reader.text
    policy = re.search(r'content="(default-src[^"]*)"', text)[1]
    assert "default-src 'none'" in policy
    assert re.search(r"script-src 'sha256-[A-Za-z0-9+/]{43}='", policy)


def test_the_policy_names_the_script_that_is_there(hostile):
    import base64
    import hashlib

    text = page(hostile)
    script = Reader(text).scripts[1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"'sha256-{digest}'" in text


def test_the_data_in_the_page_is_the_report(hostile):
    data = msgspec.json.decode(Reader(page(hostile)).scripts[0])
    assert len(data["rows"]) == len(hostile.rows)
    for values, row in zip(data["rows"], hostile.rows, strict=True):
        found = {
            field: data["names"][field][value] if field in data["names"] else value
            for field, value in zip(data["fields"], values, strict=True)
        }
        assert (found["case"], found["cell"]) == (row.case, row.cell)
        assert (found["outcome"], found["stage"]) == (row.outcome, row.stage or "")
        assert found["verdict"] == row.verdict
        assert [time / 1000 for time in found["times"] if time is not None] == pytest.approx(
            list(row.seconds.values())
        )
        if row.diagnostic is not None:
            assert data["diagnostics"][found["diagnostic"]] == hostile.diagnostic(row)


def test_page_answers_first_what_is_wrong(hostile):
    reader = Reader(page(hostile))
    order = [
        "missing",
        "differences",
        "changes",
        "attention",
        "clusters",
        "matrix",
        "slowest",
        "environment",
    ]
    assert [identifier for identifier in reader.ids if identifier in order] == order


def test_page_of_a_good_run_has_no_empty_lists(tmp_path):
    text = page(report_of(write_run(tmp_path / "run", [passed("F_relu")])))
    reader = Reader(text)
    assert "As expected" in reader.text
    assert not {"attention", "missing", "differences", "clusters"} & set(reader.ids)


@pytest.mark.parametrize("kind", ["ordinary", "worst", "hostile"])
def test_a_page_of_all_cells_stays_small(tmp_path, kind):
    """6 cells × 398 cases × 2 frontends × 2 targets, also if each fails with 4 KB of its own."""
    cells = {f"torch2{n}-cell": cell(f"2.{n}.0") for n in range(10, 16)}
    sign = "<" if kind == "hostile" else "é"
    results = [
        failed(
            f"case_number_{case}", name, frontend, target, diagnostic=f"{case}{name}{sign}" * 400
        )
        if kind != "ordinary" or case % 50 == 0
        else passed(f"case_number_{case}", name, frontend, target)
        for case in range(398)
        for name in cells
        for frontend in ("ts", "pt2")
        for target in ("pnnx", "ncnn")
    ]
    report = report_of(write_run(tmp_path / "run", results, cells=cells))
    assert len(report.rows) == 9552
    assert len(page(report).encode()) < 2_000_000


def test_junit(hostile, tmp_path):
    write(hostile, tmp_path / "out")
    root = ElementTree.parse(tmp_path / "out" / "junit.xml").getroot()
    assert root.tag == "testsuites"
    assert [suite.get("name") for suite in root] == ["a", "b"]
    for suite in root:
        cases = suite.findall("testcase")
        assert int(suite.get("tests")) == len(cases)
        for kind, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(suite.get(kind)) == len(suite.findall(f"testcase/{tag}"))
    counts = [root.get(kind) for kind in ("tests", "failures", "errors", "skipped")]
    assert counts == ["7", "4", "2", "0"]
    relu = root.find(".//testcase[@name='F_relu[pt2-pnnx-cpu]']")
    assert relu.get("classname") == "a.functional"
    assert "<script>alert(1)</script> ]]>" in relu.find("failure").text
    assert "no entry expects it" in relu.find("failure").get("message")
    assert relu.find("failure").text.endswith(
        "again: pnnx-parity run --cell a --case F_relu --frontend pt2 --target pnnx --device cpu"
    )
    assert root.find(".//testcase[@name='F_mish[ts-pnnx-cpu]']/error").get("type") == "missing"


def test_json_is_the_report(hostile, tmp_path):
    write(hostile, tmp_path / "out")
    data = (tmp_path / "out" / "report.json").read_bytes()
    assert msgspec.json.decode(data)["schema"] == 1
    assert msgspec.json.decode(data, type=Report) == hostile
    assert max(map(len, hostile.diagnostics)) < 4300


def test_markdown_is_short_and_inert(hostile, tmp_path, monkeypatch):
    step = tmp_path / "step.md"
    step.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(step))
    write(hostile, tmp_path / "out")
    text = (tmp_path / "out" / "report.md").read_text()
    assert step.read_text() == "before\n" + text
    assert len(text) < 20_000
    assert "<script>" not in text
    assert text.count("<details") == text.count("</details>")
    tables = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    assert len(tables) >= 4
    for table in tables:
        assert len({line.count("|") for line in table.splitlines()}) == 1


@pytest.mark.parametrize(
    "text", ["'a' has no \"b\"", "<a> & b#c", "`a|b` *c* _d_ ~e~ [f](g) @h $i$"]
)
def test_markdown_says_what_was_said(tmp_path, text):
    shown = markdown(report_of(write_run(tmp_path / "run", [failed("F_relu", diagnostic=text)])))
    (said,) = re.findall(r"no entry expects it \| <code>(.*)</code>", shown)
    assert html.unescape(said) == text
    assert not set(said) & set("|\\`*_[]~@:$<>")


def test_markdown_of_a_bad_day_is_below_githubs_limit(tmp_path):
    results = [
        failed(f"case_{n}", diagnostic=chr(0x4E00 + n) * 2000, stage=Stage.export)
        for n in range(2000)
    ]
    run = write_run(tmp_path / "run", results)
    write(report_of(run), tmp_path / "out")
    assert (tmp_path / "out" / "report.md").stat().st_size < 200_000


def test_markdown_of_hostile_lists_is_below_githubs_limit(tmp_path):
    cells = {f"cell_{n}": cell() for n in range(6)}
    results = [
        failed(f"case_{n}" * 40, name, diagnostic="|" * 4000 + str(n), stage=Stage.export)
        for n in range(60)
        for name in cells
    ]
    run = write_run(tmp_path / "run", results, cells=cells)
    report = report_of(run)
    report.differences = [
        Difference(
            case="|" * 300,
            paths=["|" * 300],
            sides=[Side(cells=["|" * 300], rows=[0], where=["|" * 300])] * 10,
        )
    ] * 60
    text = markdown(report)
    assert len(text.encode()) < 1_000_000
    assert "Differences between cells: too long for this page, see index.html." in text
    assert "<summary>Failure clusters</summary>" in text


def test_markdown_tells_changes_and_parity(tmp_path):
    graphs = [f"7767517\n1 1\npnnx.Input in 0 1 0 #0=(1,{n})f32\n" for n in (16, 17)]
    results = [passed("F_relu", frontend=name) for name in ("ts", "pt2")]
    for result, graph in zip(results, graphs, strict=True):
        result.graph = zlib.compress(graph.encode())
    old = write_run(tmp_path / "old", [failed("F_relu"), passed("F_elu")])
    new = write_run(tmp_path / "new", [*results, failed("F_elu")], day=1)
    text = markdown(report_of(old, new))
    assert "<summary>Changes since the last time (2 trials compared)</summary>" in text
    assert "| newly failing | <code>F&#95;elu</code> | pt2 → pnnx in a | passed in old |" in text
    assert (
        "| fixed | <code>F&#95;relu</code> | pt2 → pnnx in a | failed at convert in old |" in text
    )
    assert "<summary>Structural parity: 0 of 1 graphs the same (0.0%)</summary>" in text
    assert "not reviewed |" in text
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        assert len({line.count("|") for line in table.splitlines()}) == 1


def test_expected_and_stale_in_every_form(tmp_path):
    from orchestrator.expectations import Expectation
    from orchestrator.expectations.when import When

    def entry(case):
        return Expectation(
            case=case, frontend="pt2", target="pnnx", when="always", outcome=Outcome.failed,
            stage=Stage.convert, diagnostic="aten.foo", reason="<not> yet", file="t.toml", line=7,
            condition=When.parse("always", ()), link="https://example.org/\u202e1",
        )  # fmt: skip

    run = write_run(tmp_path / "run", [failed("F_relu"), passed("F_elu")])
    report = report_of(run, entries=[entry("F_relu"), entry("F_elu")])
    assert report.status == 1
    assert {row.link for row in report.rows} == {r"https://example.org/\u202e1"}
    write(report, run)
    root = ElementTree.parse(run / "junit.xml").getroot()
    assert [root.get(kind) for kind in ("tests", "failures", "errors", "skipped")] == list("2101")
    skipped = root.find(".//skipped").get("message")
    assert skipped == "expected, failed at convert: <not> yet (t.toml:7)"
    assert root.find(".//failure").get("type") == "stale.passed"
    assert "passes now: delete the entry t.toml:7" in Reader(page(report)).text
    assert "passes now: delete the entry t.toml:7" in summary(report, run, {})


def test_summary_is_short_and_plain(hostile, tmp_path):
    text = summary(hostile, tmp_path, {})
    assert text.splitlines()[0] == (
        "5 unexpected; incomplete: 1 trial without a result."
        " 6 trials of 5 cases in 2 cells: 1 ok, 5 unexpected."
    )
    assert f"again: {command('run', '--cell', 'a', '--case', 'F_elu')} --frontend pt2" in text
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert max(map(len, text.splitlines())) < 300
    assert text.endswith(f"report: {tmp_path / 'index.html'}")


def test_summary_of_many_failures_is_short(tmp_path):
    report = report_of(write_run(tmp_path / "run", [failed(f"case_{n}") for n in range(40)]))
    text = summary(report, tmp_path, {})
    assert len(text.splitlines()) < 50
    assert "... and 30 more like these" in text


def test_files_are_written_whole(hostile, tmp_path):
    out = tmp_path / "out"
    write(hostile, out)
    write(hostile, out)
    assert sorted(file.name for file in out.iterdir()) == [
        "index.html",
        "issue.md",
        "junit.xml",
        "report.json",
        "report.md",
    ]
