"""Copy the merged report to a folder of web pages, where links to it last; print its place."""

from __future__ import annotations

import argparse
import html
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from orchestrator import runs
from orchestrator.errors import UsageError
from orchestrator.expectations import Verdict
from orchestrator.files import write_whole
from orchestrator.report.headline import count, headline
from orchestrator.report.markdown import SIGNS
from orchestrator.report.model import Report

NIGHTS = "nights"
FILES = ("index.html", "report.md")
SAID = "said.txt"
"""A night's line for the page that links all."""

PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>pnnx-parity: nights</title>
<style>
  body {{ font: 1rem/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; }}
  body {{ color-scheme: light dark; padding: 0 1rem; }}
  td {{ padding: 0.1rem 1rem 0.1rem 0; vertical-align: top; }}
</style>
<h1>Nights</h1>
<table>
{rows}
</table>
"""


class Night(NamedTuple):
    """A report that was published: the folder's name is its time, UTC."""

    name: str
    said: str


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("pages", type=Path, metavar="FOLDER", help="such as a checkout of gh-pages")
    parser.add_argument(
        "--report", type=Path, default=runs.RESULTS / "report", metavar="DIR",
        help="default: results/report",
    )  # fmt: skip


def main(args: argparse.Namespace) -> int:
    """0. Raises UsageError where there is no report."""
    report = _read(args.report)
    name = f"{report.created:%Y%m%d-%H%M%S}"
    folder = args.pages / NIGHTS / name
    folder.mkdir(parents=True, exist_ok=True)
    for file in FILES:
        shutil.copy(args.report / file, folder / file)
    write_whole(folder / SAID, _said(report))
    rows = "\n".join(map(_row, _nights(args.pages / NIGHTS)))
    write_whole(args.pages / NIGHTS / "index.html", PAGE.format(rows=rows))
    print(f"{NIGHTS}/{name}")
    return 0


def _read(folder: Path) -> Report:
    try:
        return msgspec.json.decode((folder / "report.json").read_bytes(), type=Report)
    except (OSError, msgspec.DecodeError) as error:
        raise UsageError(f"{folder}: no report: {error}; make one with nox -s report") from None


def _nights(folder: Path) -> Iterator[Night]:
    """All that are there, the newest first."""
    for path in sorted(folder.iterdir(), reverse=True):
        if path.is_dir():
            said = path / SAID
            yield Night(path.name, said.read_text(encoding="utf-8") if said.exists() else "")


def _said(report: Report) -> str:
    green = sum(report.verdicts.get(verdict, 0) for verdict in Verdict if verdict.green)
    passed = f"{green:,} of {count(len(report.rows), 'trial')} as expected"
    return f"{SIGNS[report.status]} {headline(report)}. {passed}"


def _row(night: Night) -> str:
    link = f'<a href="{html.escape(night.name)}/">{html.escape(night.name)}</a>'
    return f"<tr><td>{link}<td>{html.escape(night.said)}"
