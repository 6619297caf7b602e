"""A report in all its forms, in a folder."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from orchestrator.files import write_whole
from orchestrator.report.issue import issue
from orchestrator.report.junit import junit
from orchestrator.report.markdown import markdown
from orchestrator.report.model import Report
from orchestrator.report.page import page


def write(report: Report, folder: Path) -> None:
    """Write junit.xml, report.md, report.json and index.html, each whole, and issue.md if there is
    cause for one; append report.md to `$GITHUB_STEP_SUMMARY` where that is set. Raises OSError,
    with the file's name."""
    folder.mkdir(parents=True, exist_ok=True)
    short = markdown(report)
    write_whole(folder / "report.json", msgspec.json.encode(report))
    write_whole(folder / "junit.xml", junit(report))
    write_whole(folder / "report.md", short)
    write_whole(folder / "index.html", page(report))
    (folder / "issue.md").unlink(missing_ok=True)
    if text := issue(report):
        write_whole(folder / "issue.md", text)
    if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        with open(summary, "a", encoding="utf-8") as file:
            file.write(short)
