"""Run the cases that the commits to be pushed affect, and fail if one of them breaks.

By hand: HEAD against its upstream. As git's hook, which --install sets, and as pre-commit's.
"""

from __future__ import annotations

import argparse
import os
import shlex
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from orchestrator import memory, runs
from orchestrator.cells import load_cells
from orchestrator.cluster.connect import own_cpus
from orchestrator.commands.options import warn
from orchestrator.commands.run import seconds
from orchestrator.errors import UsageError
from orchestrator.expectations import load_tables
from orchestrator.prepush import hook, index, refs
from orchestrator.prepush.affected import Affected, Sources, affected, is_idle
from orchestrator.prepush.choose import Chosen, builds, built, choose, wanted
from orchestrator.prepush.diff import Lines, changes
from orchestrator.prepush.git import Git
from orchestrator.prepush.refs import Pushed
from orchestrator.prepush.tested import Ended, checked_out, run
from orchestrator.report import Report, build, merge
from orchestrator.report.headline import count
from orchestrator.report.model import Row
from orchestrator.report.text import first_line, visible
from orchestrator.spelling import command
from suites import registry
from suites.registry import RegistryError

BUDGET = 60.0
ROUND = "to push all the same: git push --no-verify"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--budget", type=seconds, metavar="SECONDS", help=f"stop after this time; {BUDGET:g}"
    )
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "--base", metavar="REF", help="test what HEAD adds to this; default: its upstream, or main"
    )
    group.add_argument("--install", action="store_true", help="set git's pre-push hook")
    group.add_argument("--uninstall", action="store_true", help="remove that hook")
    group.add_argument(
        "--hook", nargs="*", metavar="WORD", help="be the hook: git gives words, and refs on stdin"
    )


def main(args: argparse.Namespace) -> int:
    git = Git(Path.cwd())
    git = Git(Path(git("rev-parse", "--show-toplevel")))
    if args.install:
        print(f"{hook.install(git, args.budget)} is set; git push --no-verify goes round it")
        return 0
    if args.uninstall:
        print(f"{hook.uninstall(git)} is removed")
        return 0
    pushed = _pushed(git, args)
    before = signal.signal(signal.SIGTERM, _interrupt)  # so that nothing is left lying about
    try:
        statuses = list(_test_all(git, pushed, args.budget or BUDGET))
    finally:
        signal.signal(signal.SIGTERM, before)
    if any(statuses) and args.hook is not None:
        print(f"pre-push: {ROUND}", file=sys.stderr)
    return max(statuses, default=0)


def _interrupt(number: int, frame: object) -> None:
    raise KeyboardInterrupt


def _test_all(git: Git, pushed: Sequence[Pushed], budget: float) -> Iterator[int]:
    """The exit status of each; they share the time."""
    until = time.monotonic() + budget
    for number, each in enumerate(pushed):
        yield _try(git, each, (until - time.monotonic()) / (len(pushed) - number))


def _try(git: Git, pushed: Pushed, budget: float) -> int:
    """Test one commit; what is wrong with its files does not end the test of others."""
    try:
        return _test(git, pushed, budget)
    except UsageError as error:
        print(f"pnnx-parity: {visible(str(error))}", file=sys.stderr)
        return 2


def _pushed(git: Git, args: argparse.Namespace) -> Sequence[Pushed]:
    if args.hook is not None:
        return refs.of_hook(git, sys.stdin, args.hook[0] if args.hook else "")
    by_pre_commit = None if args.base else refs.of_pre_commit(git, os.environ)
    return refs.of_branch(git, args.base) if by_pre_commit is None else by_pre_commit


def _test(git: Git, pushed: Pushed, budget: float) -> int:
    """Test one commit; tell what is unexpected, and, in one line, what was done. 1 blocks."""
    begun = time.monotonic()
    name = pushed.commit[:10]
    changed = changes(git, pushed.base, pushed.commit) if pushed.base else None
    if changed is not None and all(map(is_idle, changed)):
        what = "no file that a trial depends on" if changed else "nothing"
        print(f"pre-push: {name} changes {what}")
        return 0
    with checked_out(git, pushed.commit) as tree:
        files = Files(tree)
        found, chosen = _choose(git, pushed, changed, files, budget)
        for note in found.notes:
            print(f"pre-push: note: {note}")
        if not chosen.trials and chosen.homeless:
            lacking = [files.cases[case] for case in chosen.homeless]
            sessions = " ".join(map(shlex.quote, builds(files.cells.values(), lacking)))
            what = f"no cell that is built has what {_few(chosen.homeless)} needs"
            return _blocked(f"{name}: {what}; run: nox -s {sessions}")
        if not chosen.trials:
            print(f"pre-push: {name} changes nothing that a case goes through")
            return 0
        ended = run(tree, pushed.commit, chosen.trials, budget - (time.monotonic() - begun))
        report = build(merge([ended.folder]), files.table, files.cases)
    took = time.monotonic() - begun
    return _tell(name, chosen, ended, report, took)


class Files:
    """What the pushed files say: their cells, cases and expectations. Raises UsageError."""

    def __init__(self, tree: Path) -> None:
        self.tree = tree
        suites = tree / "suites"
        folders = {file.parent.name for file in suites.glob("*/*.py")}
        self.cells = load_cells(tree / "envs")
        try:
            found = registry.discover(folders, root=suites)
        except RegistryError as error:
            raise UsageError(str(error)) from None
        self.cases = {case.name: case for case in found}
        self.table = load_tables(suites / "expectations", self.cases, self.cells)


def _choose(
    git: Git, pushed: Pushed, changed: dict[str, Lines] | None, files: Files, budget: float
) -> tuple[Affected, Chosen]:
    """What to run. Raises UsageError."""
    sources = Sources(files.tree, git, pushed.base)
    found = affected(changed, sources, index.read(runs.RESULTS, warn), files.cases)
    homes = built(files.cells.values())
    if not any(homes):
        sessions = " ".join(shlex.quote(cell.session) for cell in wanted(files.cells.values()))
        raise UsageError(f"no cell is built, so nothing can be tested; run: nox -s {sessions}")
    durations = memory.recall(warn).seconds()
    return found, choose(found.routes, files.cases, homes, durations, budget, own_cpus())


def _tell(name: str, chosen: Chosen, ended: Ended, report: Report, took: float) -> int:
    """Print what is unexpected, then what was done."""
    red = [row for row in report.rows if not row.verdict.green]
    for row in red:
        print(f"{row.verdict}: {row.cell}: {row.case}: {row.path}: {row.what}")
        if row.diagnostic is not None:
            print(f"  | {first_line(report.diagnostics[row.diagnostic], 160)}")
        print(f"  again: {command(*row.again)}")
    for line in ended.said:
        print(f"  | {visible(line)}")
    done = _done(report, red) if report.rows else "nothing was tested"
    print(f"pre-push: {name}: {done} in {took:.0f} s{_left_out(chosen, ended, report)}")
    if ended.said or (report.missing and not ended.is_late):
        return _blocked("the run is incomplete")
    if not report.rows:
        return _blocked("give more time with --budget")
    return 1 if red else 0


def _done(report: Report, red: Sequence[Row]) -> str:
    cells = ", ".join(sorted({row.cell for row in report.rows}))
    cases = count(len({row.case for row in report.rows}), "case")
    end = f"{len(red)} not as expected" if red else "all as expected"
    return f"{count(len(report.rows), 'trial')} of {cases} in {cells}, {end}"


def _left_out(chosen: Chosen, ended: Ended, report: Report) -> str:
    late = len(chosen.late) + (len(report.missing) if ended.is_late else 0)
    told = [f"{count(late, 'trial')} for want of time"] if late else []
    if chosen.homeless:
        told.append(f"{_few(chosen.homeless)}, for want of a cell that is built")
    return f"; left out: {'; '.join(told)}" if told else ""


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _blocked(why: str) -> int:
    print(f"pre-push: {why}", file=sys.stderr)
    return 1
