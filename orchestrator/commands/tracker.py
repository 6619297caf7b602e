"""The parity tracker: which public APIs the cases prove to convert, and which none proves."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator

from orchestrator.cells import ROOT
from orchestrator.commands.options import Known
from orchestrator.errors import UsageError
from orchestrator.files import write_whole
from orchestrator.spelling import command
from orchestrator.tracker import check, document
from orchestrator.tracker.apis import COUNTED, public
from orchestrator.tracker.rows import Row, rows

FILE = ROOT / "suites" / "parity-tracker.md"


def arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "--write", action="store_true", help="bring suites/parity-tracker.md up to date"
    )
    group.add_argument("--check", action="store_true", help="fail where that file is out of date")


def main(args: argparse.Namespace) -> int:
    """0, or 1 where the file is out of date. Raises UsageError for a case without a known API."""
    known = Known()
    cases = known.cases_of(None)
    if lines := check.foreign(cases):
        raise UsageError("\n".join(lines))
    proven = rows(cases, known.table(), known.cells)
    if args.write:
        write_whole(FILE, document.write(proven.values()))
        print(FILE.relative_to(ROOT))
    if args.check:
        return _check(proven)
    for line in coverage(proven):
        print(line)
    return 0


def _check(proven: dict[str, Row]) -> int:
    try:
        text = FILE.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{FILE}: not readable: {error}; {_mend()}") from None
    found = check.faults(text, proven)
    for fault in found:
        print(f"{FILE.relative_to(ROOT)}:{fault.line}: {fault.text}")
    print(
        f"{len(found)} faults; {_mend()}"
        if found
        else f"{len(proven)} APIs, as the cases prove them"
    )
    return 1 if found else 0


def _mend() -> str:
    return f"run: {command('tracker', '--write')}"


def coverage(proven: Iterable[str]) -> Iterator[str]:
    """How much of the public API of each counted section the cases prove, and what is left."""
    for name in COUNTED:
        offered = {api for api in public() if api.rpartition(".")[0] == name}
        left = offered.difference(proven)
        count = len(offered) - len(left)
        words = ", ".join(sorted(api.rpartition(".")[2] for api in left)) or "none"
        share = f"{count} of {len(offered)} proven ({count / len(offered):.0%})"
        yield f"{name}: {share}; left: {words}"
