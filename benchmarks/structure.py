"""The share of cases of which both frontends write the same graph, and why the others differ.

    .nox/env-torch213-tf5/bin/python benchmarks/structure.py [-k part] [suite …]

Runs in a cell, whose packages decide which cases there are. Ends with 1 where a difference has no
reason in suites/structure.toml, an entry of that is no longer so, or the share is too low.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path

from suites.parity import Parity, compare_case
from suites.registry import discover
from suites.reviewed import Reviewed, read_reviewed, unexplained

LEAST = 0.85
"""The share of cases that must be the same, over all that both frontends convert."""


def told(parity: Parity, reviewed: list[Reviewed]) -> bool:
    """Print how a case differs; whether something about it is not explained."""
    if parity.differences is None:
        print(f"{parity.case}: not compared: {parity.refusal.splitlines()[0]}")
        return False
    texts = list(map(str, parity.differences))
    faults = list(unexplained(texts, reviewed))
    if texts:
        print(f"{parity.case}: {len(texts)} differences")
        for entry in reviewed:
            print(f"    because {entry.reason}")
    for fault in faults:
        print(f"    {fault}")
    return bool(faults)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("suites", nargs="*")
    parser.add_argument("-k", default="", metavar="part", help="cases whose name has this part")
    options = parser.parse_args()
    table = read_reviewed({info.name for info in discover()})
    same, compared = Counter[str](), Counter[str]()
    faulty = 0
    for info in discover(options.suites):
        if options.k not in info.name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            parity = compare_case(info.name, Path(folder))
        faulty += told(parity, table.get(info.name, []))
        if parity.differences is not None:
            compared[info.suite] += 1
            same[info.suite] += not parity.differences
    for suite, count in sorted(compared.items()):
        print(f"{suite:14} {same[suite]:4} of {count:4} the same")
    share = same.total() / compared.total() if compared else 0.0
    print(f"{'all':14} {same.total():4} of {compared.total():4} the same: {share:.1%}")
    return 1 if faulty or share < LEAST else 0


if __name__ == "__main__":
    sys.exit(main())
