"""`pnnx-parity run`: plan, run, audit and report."""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from orchestrator import memory, runs
from orchestrator.cells import CellError, pick
from orchestrator.commands.options import SELECTING, Known, selection_arguments, warn
from orchestrator.errors import UsageError
from orchestrator.perform import perform
from orchestrator.plan import Planned, plan, spread
from orchestrator.record import Loss
from orchestrator.report import build, merge, tell, write
from orchestrator.report.headline import count
from orchestrator.runs import Run
from orchestrator.spelling import command


def arguments(parser: argparse.ArgumentParser) -> None:
    selection_arguments(parser)
    parser.add_argument("--workers", type=_count, metavar="N", help="how many trials at a time")
    parser.add_argument(
        "--address", default=os.environ.get("RAY_ADDRESS"), help="join this Ray cluster"
    )
    parser.add_argument(
        "--limit",
        type=seconds,
        metavar="SECONDS",
        help="kill trials after this time, in the place of each case's own limit",
    )
    parser.add_argument("--output", type=Path, metavar="DIR", help="default: results/<time>")
    parser.add_argument(
        "--resume", metavar="RUN", help="do what is missing of an earlier run, such as latest"
    )
    parser.add_argument(
        "--keep-going",
        action="store_true",
        help="report, with exit status 3, also where no cell can be used",
    )


def main(args: argparse.Namespace) -> int:
    known = Known()
    table, reasons = known.table(), known.reviewed()
    past = memory.recall(warn)
    begin = _resume if args.resume else _begin
    run, planned = begin(args, known, past.seconds())
    planned = _usable(run, planned, known, args)
    if planned:
        try:
            perform(run, planned, known.cells, table, address=args.address, workers=args.workers)
        except UsageError as error:
            if not (args.keep_going and isinstance(error, CellError)):
                if not args.resume:
                    run.discard()
                raise
            run.save()
    since = time.monotonic()
    merged = merge([run.folder])
    report = build(merged, table, known.cases, past, reasons)
    write(report, run.folder)
    run.spent("report", time.monotonic() - since)
    run.save()
    memory.keep([run.folder], table, warn)
    tell(report, run.folder, known.cases, merged.places)
    if report.missing:
        print(f"continue with: {command('run', '--resume', str(run.folder))}")
    return report.status


def _begin(
    args: argparse.Namespace, known: Known, durations: Mapping[str, float]
) -> tuple[Run, list[Planned]]:
    """Plan a new run, and make its folder. Raises UsageError."""
    trials, notes = spread(known.selection(args), known.cases_of(args.suite))
    planned = plan(trials, known.cases, durations, args.limit)
    if not args.keep_going:
        _check_any(args, known, planned)
    for note in notes:
        print(f"note: {note}")
    return runs.create(
        args.output, sys.argv[1:], [trial for each in planned for trial in each.trials]
    ), planned


def _resume(
    args: argparse.Namespace, known: Known, durations: Mapping[str, float]
) -> tuple[Run, list[Planned]]:
    """Open an earlier run, and plan what it lacks. Raises UsageError."""
    for name in (*SELECTING, "output"):
        if getattr(args, name):
            raise UsageError(
                f"--resume continues the plan that {args.resume} has; drop {_option(name)}"
            )
    run = runs.reopen(args.resume)
    order = {trial: place for place, trial in enumerate(run.record.plan)}
    planned = plan(run.missing(), known.cases, durations, args.limit)
    # Whoever planned it had a reason; what runs together comes as early as any of it.
    planned.sort(key=lambda each: min(order[trial] for trial in each.trials))
    missing = sum(len(each.trials) for each in planned)
    if missing == len(run.record.plan) and not args.keep_going:
        _check_any(args, known, planned)
    print(f"{missing} of {len(run.record.plan)} trials are missing")
    return run, planned


def _option(name: str) -> str:
    """How an option is spelled that sets an attribute."""
    return "-k" if name == "keyword" else f"--{name.replace('_', '-')}"


def _check_any(args: argparse.Namespace, known: Known, planned: Sequence[Planned]) -> None:
    """Raise CellError where none of the cells can be used."""
    lacking = _lacking(args, known, planned)
    if all(each.cell in lacking for each in planned):
        raise CellError("; ".join(lacking.values()))


def _lacking(args: argparse.Namespace, known: Known, planned: Sequence[Planned]) -> dict[str, str]:
    """Why cells cannot be used, by name; the nodes of a cluster build what this machine lacks."""
    lacking = {}
    for name in dict.fromkeys(each.cell for each in planned):
        try:
            (cell,) = pick(known.cells, [name])
            if args.address is None:
                cell.python_path()
        except CellError as error:
            lacking[name] = str(error)
    return lacking


def _usable(
    run: Run, planned: Sequence[Planned], known: Known, args: argparse.Namespace
) -> list[Planned]:
    """Return the trials of the cells that can be used; note why there will be none of others."""
    lacking = _lacking(args, known, planned)
    lost = Counter((each.cell, each.device) for each in planned for _ in each.trials)
    for (cell, device), number in lost.items():
        if cell in lacking:
            run.record.lose(Loss(cell=cell, device=device, reason=lacking[cell]))
            print(f"note: no result for {count(number, 'trial')} in {cell}: {lacking[cell]}")
    if lacking:
        run.save()
    return [each for each in planned if each.cell not in lacking]


def _count(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


def seconds(text: str) -> float:
    """Read an option that is a time."""
    with contextlib.suppress(ValueError):
        if 0 < (value := float(text)) < math.inf:
            return value
    raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
