"""Tell a case's results over runs and versions; or make the history anew from results/."""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from statistics import median

from orchestrator import memory
from orchestrator.commands.options import Known, warn
from orchestrator.errors import UsageError, nearest
from orchestrator.history import Recorded, attempt
from orchestrator.report.differences import PACKAGES
from orchestrator.report.headline import count
from orchestrator.report.model import path, what
from orchestrator.report.page_data import GLYPHS
from orchestrator.report.text import first_line, visible
from orchestrator.spelling import command
from suites.trial import Outcome

LAST = 20
"""How many of the last results are drawn."""

BARS = "▁▂▃▄▅▆▇█"


def arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_mutually_exclusive_group(required=True)
    group.add_argument("case", nargs="?", metavar="CASE")
    group.add_argument(
        "--rebuild", action="store_true", help="read every run in results/ into the history again"
    )


def main(args: argparse.Namespace) -> int:
    known = Known()
    if args.rebuild:
        return _rebuild(known)
    if not memory.file().exists():
        raise UsageError(f"there is no {memory.file()}; run: {command('history', '--rebuild')}")
    found = attempt(memory.file(), lambda history: history.of_case(args.case), None, warn)
    if found is None:
        return 2
    if not found:
        hint = (
            "it has not been run" if args.case in known.cases else nearest(args.case, known.cases)
        )
        raise UsageError(f"the history has no case {args.case!r}; {hint}")
    _tell(args.case, found)
    return 0


def _rebuild(known: Known) -> int:
    """0, 2 where the history cannot be written, 3 where a run was left out."""
    done = memory.rebuild(known.table(), warn)
    if done is None:
        return 2
    errors = [error for _, error in done if error]
    for error in errors:
        warn(f"left out: {error}")
    print(f"{memory.file()}: {count(len(done) - len(errors), 'run')} read")
    return 3 if errors else 0


Paths = dict[tuple[str, str], list[Recorded]]
"""The results by cell and path, oldest first."""


def _tell(case: str, found: Sequence[Recorded]) -> None:
    runs = sorted({each.run for each in found})
    days = " to ".join(f"{run.started:%Y-%m-%d}" for run in (runs[0], runs[-1]))
    print(f"{case}: {count(len(runs), 'run')}, {days}\n")
    paths, versions = _paths(found), defaultdict(list)
    rows = [[cell, way, *_record(results)] for (cell, way), results in sorted(paths.items())]
    _table(["cell", "path", "passed", f"last {LAST}", "usual", "times", "now"], rows)
    for each in found:
        versions[_versions(each)].append(each)
    print()
    _table(["versions", "passed"], [[name, _passed(same)] for name, same in versions.items()])
    for line in list(_turns(paths))[-LAST:]:
        print(f"\n{line}")


def _paths(found: Iterable[Recorded]) -> Paths:
    paths: Paths = defaultdict(list)
    for each in found:
        trial, platform = each.key
        elsewhere = "" if platform in ("", "linux") else f"@{platform}"
        paths[trial.cell + elsewhere, path(trial)].append(each)
    return paths


def _turns(paths: Paths) -> Iterator[str]:
    """Each time that a trial came to something else than before, oldest first."""
    turns = [
        (after.run, cell, way, before, after)
        for (cell, way), results in paths.items()
        for before, after in pairwise(results)
        if before.came.end != after.came.end
    ]
    for run, cell, way, before, after in sorted(turns, key=lambda turn: turn[:3]):
        when = f"{run.started:%Y-%m-%d %H:%M} {visible(run.name)}"
        said = first_line(visible(after.came.diagnostic), 160)
        yield f"{when}: {cell}: {way}: {_turn(before, after)}" + (f"\n  | {said}" if said else "")


def _record(results: Sequence[Recorded]) -> Iterator[str]:
    last = results[-LAST:]
    passes = [each.came.seconds for each in last if each.came.outcome is Outcome.passed]
    yield _passed(results)
    yield "".join(GLYPHS[each.came.outcome] for each in last)
    yield f"{median(passes):.2f} s" if passes else ""
    yield sparkline(passes)
    yield f"{what(*last[-1].came.end)}, {last[-1].verdict}"


def _passed(results: Sequence[Recorded]) -> str:
    passes = sum(each.came.outcome is Outcome.passed for each in results)
    return f"{passes} of {len(results)}"


def sparkline(values: Sequence[float]) -> str:
    """A bar for each value, in eighths of the largest."""
    most = max(values, default=0.0) or 1.0
    return "".join(BARS[min(int(value / most * len(BARS)), len(BARS) - 1)] for value in values)


def _versions(recorded: Recorded) -> str:
    found = recorded.packages
    return ", ".join(f"{name} {visible(found[name])}" for name in PACKAGES if name in found)


def _turn(before: Recorded, after: Recorded) -> str:
    """What came, and what else was other than the time before."""
    changed = [
        f"{name} {before.packages.get(name, 'absent')} → {after.packages.get(name, 'absent')}"
        for name in sorted(before.packages.keys() | after.packages.keys())
        if before.packages.get(name) != after.packages.get(name)
    ]
    if before.commit != after.commit:
        changed.append(f"commit {before.commit[:10]} → {after.commit[:10]}")
    told = f"{what(*after.came.end)}, was {what(*before.came.end)}"
    return visible(f"{told}; with {', '.join(changed)}" if changed else told)


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print columns: with rich in a terminal, plain elsewhere."""
    lines = [heads, *rows]
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(*heads, box=None, padding=(0, 2, 0, 0))
        for row in lines[1:]:
            table.add_row(*map(Text, row))
        Console().print(table)
        return
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        words = (word.ljust(width) for word, width in zip(line, widths, strict=True))
        print("  ".join(words).rstrip())
