"""Write a new cell from another, or check the cells and pins that documents mention."""

from __future__ import annotations

import argparse

from orchestrator.cells import ROOT, load_cells
from orchestrator.mentions import faults
from orchestrator.new_cell import write_cell


def arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(required=True, metavar="ACTION")
    new = actions.add_parser("new", help="write envs/NAME.toml from another cell's file")
    new.add_argument("name", metavar="NAME")
    new.add_argument("--from", dest="source", required=True, metavar="CELL")
    new.add_argument(
        "--pin",
        action="append",
        required=True,
        metavar="PACKAGE==VERSION",
        help="takes the place of the other's pin of that package, whose === stays; repeat it",
    )
    new.add_argument("--description", metavar="TEXT", help="one line for people")
    new.set_defaults(act=_new, parser=new)
    check = actions.add_parser(
        "check", help="fail where a workflow or document names a cell or pin that envs/ lacks"
    )
    check.set_defaults(act=_check, parser=check)


def main(args: argparse.Namespace) -> int:
    status: int = args.act(args)
    return status


def _new(args: argparse.Namespace) -> int:
    cells = load_cells()
    cell = write_cell(cells, args.name, args.source, args.pin, args.description)
    kept = cells[args.source].pins
    print(f"{cell.file}: {', '.join(pin for pin in cell.pins if pin not in kept)}")
    print(f"as in {args.source}: {', '.join(pin for pin in cell.pins if pin in kept) or 'no pin'}")
    print(f'build it with: nox -s "{cell.session}"')
    return 0


def _check(args: argparse.Namespace) -> int:
    """0, or 1 where something is mentioned that there is not."""
    cells = load_cells()
    found = list(faults(ROOT, cells))
    for fault in found:
        print(fault)
    print(f"{len(found)} faults" if found else f"{len(cells)} cells, and all mentions of them hold")
    return 1 if found else 0
