"""Reports as web pages: a folder for each, which links to it outlast."""

from __future__ import annotations

import pytest
from synthetic import failed, passed, write_run

from orchestrator import runs
from orchestrator.cells import load_cells
from orchestrator.cli import main

CELL = next(iter(load_cells()))


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.setattr(runs, "RESULTS", tmp_path / "results")
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    return tmp_path / "results"


def test_nights(results, tmp_path, capsys):
    pages, names = tmp_path / "pages", []
    for day, result in enumerate((passed("F_relu", CELL), failed("F_relu", CELL))):
        run = write_run(results / f"run{day}", [result], day=day)
        main(["report", str(run), "--output", str(tmp_path / "report")])
        capsys.readouterr()
        assert main(["publish", str(pages), "--report", str(tmp_path / "report")]) == 0
        names.append(capsys.readouterr().out.strip())
        page = (pages / names[-1] / "index.html").read_text()
        assert page == (tmp_path / "report" / "index.html").read_text()
        # Two reports of one second are one night.
        folder = pages / names[-1]
        folder.rename(folder.with_name(f"2026110{day + 1}-060000"))
    (pages / "nights" / "20200101-000000").mkdir()
    assert main(["publish", str(pages), "--report", str(tmp_path / "report")]) == 0
    index = (pages / "nights" / "index.html").read_text()
    assert index.index("20261102-060000") < index.index("20261101-060000")
    assert "✅ As expected. 1 of 1 trial as expected" in index
    assert "❌ 1 unexpected. 0 of 1 trial as expected" in index
    assert '<a href="20200101-000000/">20200101-000000</a>' in index


def test_without_a_report(tmp_path, capsys):
    assert main(["publish", str(tmp_path), "--report", str(tmp_path / "none")]) == 2
    assert "no report" in capsys.readouterr().err
