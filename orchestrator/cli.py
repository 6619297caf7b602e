"""The command line: `pnnx-parity run | list | report | show | audit | expect | ...`."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from orchestrator.commands import (
    audit,
    cell,
    doctor,
    expect,
    history,
    listing,
    prepush,
    publish,
    report,
    run,
    show,
    tracker,
)
from orchestrator.errors import UsageError, nearest
from orchestrator.report.text import visible

COMMANDS = {
    "run": (run, "run trials, audit them and write a report"),
    "list": (listing, "list cells, suites, cases or the trials of a selection"),
    "report": (report, "merge runs into one report"),
    "publish": (publish, "copy the merged report to web pages, a folder for each"),
    "show": (show, "show all that a run tells of a case"),
    "history": (history, "tell a case's results over runs and versions"),
    "audit": (audit, "check the expectation tables, and the results of runs by them"),
    "expect": (expect, "propose expectations for what is unexpected in runs, as a patch"),
    "tracker": (tracker, "tell, write or check which public APIs are proven to convert"),
    "prepush": (prepush, "run what the commits to be pushed affect; set git's hook"),
    "cell": (cell, "write a new cell from another, check the mentions of cells and pins"),
    "doctor": (doctor, "import every package of a cell and say what is broken"),
}


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, without the usage before it."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; see {self.prog} --help")

    def refuse(self, word: str) -> NoReturn:
        """Raise UsageError for a word that means nothing, with the options that are near to it."""
        options = [option for action in self._actions for option in action.option_strings]
        self.error(f"unknown argument {word!r}; {nearest(word.partition('=')[0], options)}")


def parser() -> Parser:
    made = Parser(
        prog="pnnx-parity",
        description="Prove, cell by cell, that PyTorch models convert to pnnx and ncnn.",
        allow_abbrev=False,
    )
    commands = made.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, (module, help) in COMMANDS.items():
        command = commands.add_parser(
            name, help=help, description=module.__doc__, allow_abbrev=False
        )
        module.arguments(command)
        command.set_defaults(main=module.main, parser=command)
    return made


def main(words: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status: 0 to 3, as the user guide tells."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal may lack the sign of an arrow
            stream.reconfigure(errors="backslashreplace")
    try:
        args, unknown = parser().parse_known_args(words)
        if unknown:
            args.parser.refuse(unknown[0])
        status: int = args.main(args)
        sys.stdout.flush()
    except UsageError as error:
        print(f"pnnx-parity: {visible(str(error))}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("pnnx-parity: interrupted", file=sys.stderr)
        return 3
    except BrokenPipeError:  # nobody heard the rest, which may be that something is unexpected
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 3
    except OSError as error:  # a full disk, a folder that cannot be written
        if error.filename is None:
            raise
        print(f"pnnx-parity: {visible(str(error.filename))}: {error.strerror}", file=sys.stderr)
        return 3
    return status


if __name__ == "__main__":
    sys.exit(main())
