"""Export every case strictly and decomposed, and compare what is converted with the plain export's.

    .nox/env-torch213-tf5/bin/python benchmarks/exports.py [-k part] [--export way] [suite …]

Runs in a cell, whose packages decide which cases there are. Ends with 1 where a difference has no
reason in suites/exports.toml, an entry of that is no longer so, or the converter refuses an export
of a case whose plain export it takes.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from suites.exports import TABLE, Export, compare_exports
from suites.registry import discover
from suites.reviewed import Reviewed, read_reviewed, unexplained
from suites.trial import DECOMPOSED, STRICT

WAYS = (STRICT, DECOMPOSED)
COLUMNS = ("same", "explained", "not exported", "faulty")


def judge(one: Export, table: Mapping[str, Sequence[Reviewed]]) -> tuple[str, list[str]]:
    """The column that an export counts in, and what there is to say of it."""
    if one.refused_by == "torch":
        return "not exported", [one.refusal.splitlines()[0]]
    if one.differences is None:
        return "faulty", [one.refusal.splitlines()[0]]
    reviewed = table.get(one.case, []) if one.export == DECOMPOSED else []
    texts = list(map(str, one.differences))
    faults = list(unexplained(texts, reviewed))
    if faults:
        return "faulty", faults
    return ("explained", [entry.reason for entry in reviewed]) if texts else ("same", [])


def compared(names: Sequence[str], ways: Sequence[str]) -> Iterator[Export]:
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            yield from compare_exports(name, Path(folder), ways)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("suites", nargs="*")
    parser.add_argument("-k", default="", metavar="part", help="cases whose name has this part")
    parser.add_argument("--export", choices=WAYS, action="append", help="default: both")
    options = parser.parse_args()
    table = read_reviewed({info.name for info in discover()}, TABLE)
    names = [info.name for info in discover(options.suites) if options.k in info.name]
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for one in compared(names, options.export or WAYS):
        if one.refused_by == "environment":
            continue
        column, words = judge(one, table)
        counts[one.export][column] += 1
        if column != "same":
            print(f"{one.case} {one.export}: {column}: {'; '.join(words)}", flush=True)
    print("".join(f"{head:>14}" for head in ("", *COLUMNS)))
    for way, count in counts.items():
        print(f"{way:>14}" + "".join(f"{count[column]:14}" for column in COLUMNS))
    return 1 if any(count["faulty"] for count in counts.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
