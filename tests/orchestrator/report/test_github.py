"""GitHub's annotations: one line each, at the code, inert whatever a diagnostic says."""

from __future__ import annotations

import re
import urllib.parse

import pytest
from synthetic import HOSTILE, failed, passed, report_of, write_run

from orchestrator.expectations import Expectation
from orchestrator.expectations.when import When
from orchestrator.report import tell
from orchestrator.report.github import annotated
from suites.registry import CaseInfo
from suites.trial import Outcome, Stage, Trial

LINE = re.compile(
    r"::error (?:file=(?P<file>[^:,]*),line=(?P<line>\d+),)?title=(?P<title>[^:,]*)::(?P<text>.*)"
)
CASES = {
    name: CaseInfo(name, "functional", "functional/x.py", 12, (), ("pnnx",), ("cpu",), 60.0)
    for name in ("F_relu", "F_elu")
}


def read(line: str) -> dict[str, str]:
    found = LINE.fullmatch(line).groupdict()
    return {name: text and urllib.parse.unquote(text) for name, text in found.items()}


def test_unexpected_at_the_case_and_stale_at_the_entry(tmp_path):
    entry = Expectation(
        case="F_elu", frontend="pt2", target="pnnx", when="always", outcome=Outcome.failed,
        stage=Stage.convert, diagnostic="x", reason="y", file="suites/expectations/t.toml", line=7,
        condition=When.parse("always", ()),
    )  # fmt: skip
    run = write_run(tmp_path / "run", [failed("F_relu", diagnostic="100%\nsure"), passed("F_elu")])
    first, second = map(read, annotated(report_of(run, entries=[entry]), CASES))
    assert (first["file"], first["line"]) == ("suites/functional/x.py", "12")
    assert first["title"] == "unexpected: F_relu failed at convert"
    assert "pt2 → pnnx in a\n100%\nsure\nagain: pnnx-parity run" in first["text"]
    assert (second["file"], second["line"]) == ("suites/expectations/t.toml", "7")
    assert second["text"].startswith("passes now: delete the entry")


def test_an_entry_on_a_drive(tmp_path):
    """A table elsewhere on Windows has a colon in its path."""
    entry = Expectation(
        case="F_elu", frontend="pt2", target="pnnx", when="always", outcome=Outcome.failed,
        stage=Stage.convert, diagnostic="x", reason="y", file="C:/my tables/t.toml", line=7,
        condition=When.parse("always", ()),
    )  # fmt: skip
    run = write_run(tmp_path / "run", [passed("F_elu")])
    (stale,) = annotated(report_of(run, entries=[entry]), CASES)
    told = stale.partition("file=")[2].partition(",line=7,")[0]
    assert urllib.parse.unquote(told) == "C:/my tables/t.toml"


@pytest.mark.parametrize(
    "text", [HOSTILE, "::error::x\n::stop-commands::y\r\n%0A::set-env::", "x" * 9000]
)
def test_a_diagnostic_stays_in_its_line(tmp_path, text):
    report = report_of(write_run(tmp_path / "run", [failed("F_relu", diagnostic=text)]))
    (line,) = annotated(report, CASES)
    assert line.isprintable()
    assert len(line) < 5000
    assert text[:20].replace("\r\n", "\n") in read(line)["text"]


def test_at_most_as_many_as_are_shown(tmp_path):
    results = [failed(f"case_{number}") for number in range(30)]
    plan = [*(result.trial for result in results), Trial("F_relu", "a", "ts", "pnnx")]
    lines = annotated(report_of(write_run(tmp_path / "run", results, plan=plan)), CASES)
    assert len(lines) == 10
    assert lines[-1] == "::error::22 more are in the report"
    assert lines[0].startswith("::error title=unexpected%3A case_0 failed at convert::")


def test_only_in_a_github_job(tmp_path, monkeypatch, capsys):
    run = write_run(tmp_path / "run", [failed("F_relu", diagnostic="::error::mine")])
    report = report_of(run)
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    tell(report, run, CASES, {})
    assert not [line for line in capsys.readouterr().out.splitlines() if line.lstrip()[:2] == "::"]
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    tell(report, run, CASES, {})
    lines = [line for line in capsys.readouterr().out.splitlines() if line.lstrip()[:2] == "::"]
    assert lines == annotated(report, CASES)


def test_a_good_run_has_none(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    report = report_of(write_run(tmp_path / "run", [passed("F_relu")]))
    assert annotated(report, CASES) == []
    tell(report, tmp_path, CASES, {})
    assert len(capsys.readouterr().out.splitlines()) == 2
