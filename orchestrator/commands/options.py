"""Options that several commands share, and what they select."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping

from orchestrator.cells import ROOT, Cell, load_cells, pick
from orchestrator.errors import UsageError, nearest
from orchestrator.expectations import Table, load_tables
from orchestrator.plan import Selection, check_suites
from orchestrator.report import Reasons
from orchestrator.report.text import visible
from suites import registry
from suites.registry import CaseInfo, RegistryError
from suites.reviewed import ReviewError, read_reviewed
from suites.trial import DEVICES, EXPORTS, FRONTENDS, PLAIN, TARGETS

SELECTING = (
    *("cell", "suite", "case", "keyword", "frontend", "target", "device", "export"),
    "every_cell",
)
"""What `selection_arguments` adds, as attributes."""

EXPECTATIONS = ROOT / "suites" / "expectations"


def selection_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options that select trials; each may be given several times."""
    group = parser.add_argument_group("selection (options with a name may be repeated)")
    group.add_argument("--cell", action="append", metavar="NAME", help="run in these cells")
    group.add_argument(
        "--suite",
        action="append",
        metavar="NAME",
        help="only cases of these suites, or files of a suite (torch_ops/fourier)",
    )
    group.add_argument("--case", action="append", metavar="NAME", help="only these cases")
    group.add_argument("-k", dest="keyword", metavar="EXPR", help="only cases whose name matches")
    for name, words, default in (
        ("frontend", FRONTENDS, "both"),
        ("target", TARGETS, "those of each case"),
        ("device", DEVICES, "cpu"),
        ("export", EXPORTS, "plain"),
    ):
        group.add_argument(f"--{name}", action="append", choices=words, help=f"default: {default}")
    group.add_argument(
        "--every-cell",
        action="store_true",
        help="run a case in every cell that has what it needs, not only in the first",
    )


def warn(text: str) -> None:
    """Say what does not stop a command."""
    print(f"warning: {visible(text)}", file=sys.stderr)


class Known:
    """All cells, cases and expectations that the checkout has.

    Raises UsageError (one of its kinds) for a file of them that is wrong.
    """

    def __init__(self) -> None:
        self.cells = load_cells()
        try:
            self.cases: Mapping[str, CaseInfo] = registry.index()
        except RegistryError as error:
            raise UsageError(str(error)) from None

    @property
    def parts(self) -> set[str]:
        """The suites, and the files of each: `torch_ops`, `torch_ops/fourier`."""
        return {part for case in self.cases.values() for part in case.parts}

    def table(self) -> Table:
        return load_tables(EXPECTATIONS, self.cases, self.cells)

    def reviewed(self) -> Reasons:
        """Why frontends may write different graphs, by case."""
        try:
            return read_reviewed(self.cases)
        except ReviewError as error:
            raise UsageError(f"suites/{error}") from None

    def cases_of(self, suites: list[str] | None) -> list[CaseInfo]:
        """The cases of the named suites or files; of all but the self-check where none is named."""
        for suite in suites or ():
            if suite not in self.parts:
                raise UsageError(f"unknown suite {suite!r}; {nearest(suite, self.parts)}")
        found = registry.discover({suite.partition("/")[0] for suite in suites or ()})
        return [case for case in found if not suites or case.is_of(suites)]

    def picked(self, names: list[str] | None) -> list[Cell]:
        cells = pick(self.cells, names or ())
        check_suites(cells, self.parts)
        return cells

    def selection(self, args: argparse.Namespace) -> Selection:
        if not args.cell:
            raise UsageError(f"no cell is named; give --cell; there are: {', '.join(self.cells)}")
        return Selection(
            cells=self.picked(args.cell),
            every_cell=args.every_cell,
            keyword=args.keyword or "",
            names=args.case or (),
            frontends=args.frontend or FRONTENDS,
            targets=args.target or TARGETS,
            devices=args.device or ("cpu",),
            exports=args.export or (PLAIN,),
        )
