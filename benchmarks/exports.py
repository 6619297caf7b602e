"""How many cases convert to the same graph however they are exported, and why the others differ.

    pnnx-parity run --cell torch213-av --frontend pt2 --export plain --export strict \\
        --export decomposed --output results/exports
    .nox/orchestrator/bin/python benchmarks/exports.py results/exports

Reads the graphs that a run kept. Ends with 1 where a difference has no reason in suites/strict.toml
or suites/decomposed.toml, or an entry of those is no longer so.
"""

from __future__ import annotations

import argparse
import sys
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from orchestrator import journal
from suites.exports import TABLES, compare_export
from suites.registry import discover
from suites.reviewed import Reviewed, read_reviewed, unexplained
from suites.trial import EXPORTS, PLAIN, Outcome, Result

COLUMNS = ("same", "explained", "faulty", "not exported")


def judge(plain: Result, other: Result, reviewed: Sequence[Reviewed]) -> tuple[str, list[str]]:
    """The column that an export counts in, and what there is to say of it."""
    if not other.graph:
        return "not exported", [f"{other.outcome} at {other.stage}: {first_line(other)}"]
    texts = [zlib.decompress(result.graph).decode() for result in (plain, other)]
    found = list(map(str, compare_export(*texts, other.trial.export)))
    if faults := list(unexplained(found, reviewed)):
        return "faulty", faults
    return ("explained", [entry.reason for entry in reviewed]) if found else ("same", [])


def first_line(result: Result) -> str:
    return result.diagnostic.partition("\n")[0]


def exported(results: Sequence[Result]) -> Iterator[tuple[str, Result, Result]]:
    """Each case with the results of its plain export and of another, unless it was skipped."""
    by_case: dict[tuple[str, str], dict[str, Result]] = defaultdict(dict)
    for result in results:
        if result.trial.target == "pnnx" and result.outcome is not Outcome.skipped:
            by_case[result.trial.case, result.trial.cell][result.trial.export] = result
    for (case, _), found in sorted(by_case.items()):
        if PLAIN in found and found[PLAIN].graph:
            others = (found[export] for export in EXPORTS if export != PLAIN and export in found)
            yield from ((case, found[PLAIN], other) for other in others)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path, help="the folder of a run with several exports")
    results = journal.read(parser.parse_args().run / journal.NAME)
    names = {info.name for info in discover()}
    tables = {export: read_reviewed(names, path) for export, path in TABLES.items()}
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for case, plain, other in exported(results):
        export = other.trial.export
        column, words = judge(plain, other, tables[export].get(case, ()))
        counts[export][column] += 1
        if words:
            print(f"{case} {export}: {column}: {'; '.join(words)}")
    print("".join(f"{head:>14}" for head in ("export", *COLUMNS)))
    for export, count in counts.items():
        print(f"{export:>14}" + "".join(f"{count[column]:14}" for column in COLUMNS))
    return 1 if not counts or any(count["faulty"] for count in counts.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
