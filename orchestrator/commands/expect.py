"""Propose expectations for what is unexpected in runs, as a patch: pipe it into `git apply`."""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict

from orchestrator import runs
from orchestrator.cells import ROOT
from orchestrator.commands import options
from orchestrator.commands.options import Known
from orchestrator.expectations import Verdict
from orchestrator.proposals import Proposal, patch, proposals
from orchestrator.report import build, merge


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("runs", nargs="+", metavar="RUN", help=runs.NAMES)


def main(args: argparse.Namespace) -> int:
    """Print the patch on standard output, and what is left to do on standard error."""
    known = Known()
    merged = merge(runs.find(name) for name in args.runs)
    report = build(merged, known.table(), known.cases)
    packages = {package for cell in known.cells.values() for package in cell.versions}
    files: dict[str, list[Proposal]] = defaultdict(list)
    for proposal in proposals(report, merged, packages):
        if proposal.case in known.cases:
            files[known.cases[proposal.case].suite].append(proposal)
    for suite, entries in files.items():
        file = options.EXPECTATIONS / f"{suite}.toml"
        before = file.read_bytes().decode() if file.exists() else None
        print(patch(file.relative_to(ROOT).as_posix(), before, entries), end="")
    number = sum(map(len, files.values()))
    for group in report.attention:
        if group.verdict is Verdict.stale:
            print(f"stale: {report.rows[group.rows[0]].why}", file=sys.stderr)
    left = "write each reason: the tables are refused until then" if number else "nothing to expect"
    print(f"proposed: {number}; {left}", file=sys.stderr)
    return 0
