"""How long `pnnx-parity report` takes to merge made-up runs into one report.

    .nox/orchestrator/bin/python benchmarks/merge.py [--runs 20] [--times 5]

Each run has every case through both frontends to both targets in one cell, with graphs of 40
operators, and one result in twenty has failed with 2 KB of its own. The times are of the whole
program, from its start to the last file written.
"""

from __future__ import annotations

import argparse
import datetime
import sys
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import msgspec
from measure import medians, run

from orchestrator.record import CellRecord, RunRecord
from suites.registry import discover
from suites.trial import FRONTENDS, TARGETS, Outcome, Result, Stage, Trial

CASES = 398
CELL = CellRecord(python="3.11.7", platform="linux", packages={"torch": "2.13.0", "pnnx": "1"})
LINES = [f"nn.ReLU relu_{n} 1 1 {n} {n + 1} #{n + 1}=(1,16,{n % 3},8)f32" for n in range(38)]
HEAD = "7767517\n40 39\npnnx.Input in 0 1 0 #0=(1,16,2,8)f32"
GRAPH = "\n".join([HEAD, *LINES, "pnnx.Output out 1 0 38", ""])


def results(day: int) -> Iterator[Result]:
    graph = zlib.compress(GRAPH.encode(), 9)
    for number, case in enumerate(discover()[:CASES]):
        for frontend in FRONTENDS:
            for target in TARGETS:
                trial = Trial(case.name, "torch213-tf5", frontend, target)
                seconds = {str(stage): 0.05 + number * 1e-4 for stage in Stage}
                result = Result(trial=trial, outcome=Outcome.passed, seconds=seconds)
                if target == "pnnx":
                    result.graph = graph
                if number % 20 == day % 20:
                    result.outcome, result.stage = Outcome.failed, Stage.compare
                    result.diagnostic = f"Mismatch: {case.name} differs\n" + f"{case.name} " * 100
                yield result


def write_run(folder: Path, day: int) -> int:
    """Write a run's folder as `pnnx-parity run` does; return how many results it has."""
    folder.mkdir()
    found = list(results(day))
    record = RunRecord(
        run=folder.name,
        started=datetime.datetime(2026, 11, 1, tzinfo=datetime.UTC) + datetime.timedelta(day),
        plan=[result.trial for result in found],
        cells={"torch213-tf5": CELL},
    )
    (folder / "run.json").write_bytes(msgspec.json.encode(record))
    lines = b"".join(msgspec.json.encode(result) + b"\n" for result in found)
    (folder / "results.jsonl").write_bytes(lines)
    return len(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--times", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folders = [Path(name, f"run{day:03}") for day in range(options.runs)]
        sizes = [write_run(folder, day) for day, folder in enumerate(folders)]
        # By way of a shell: what is unexpected in these runs makes the exit status 1.
        command = (
            f"'{sys.executable}' -m orchestrator.cli report {name}/run* --output {name}/report"
        )
        shell = ["/bin/sh", "-c", f"{command} || test $? = 1"]
        usage = medians([run(shell) for _ in range(options.times)])
        print(f"{options.runs} runs of {sizes[0]:,} results: {usage.wall:.2f} s", end="")
        print(f" ({usage.cpu:.2f} s of CPU time), median of {options.times}")


if __name__ == "__main__":
    main()
