"""Seconds per trial of a whole run, Ray and Python start-up included, with one worker and with two.

    .nox/orchestrator/bin/python benchmarks/throughput.py [options of pnnx-parity run]

Runs what the session `pt2` runs: both frontends and both targets, which share a conversion where
their inputs are the same. `--target pnnx` leaves ncnn out.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CELLS = ["--cell=torch213-tf5", "--cell=torch213-av"]


def run(workers: int, folder: Path, options: list[str]) -> tuple[float, int]:
    """Run the cases; return the seconds it took and the number of trials."""
    output = folder / f"workers-{workers}"
    command = [sys.executable, "-m", "orchestrator.cli", "run", *CELLS]
    started = time.perf_counter()
    subprocess.run(
        [*command, f"--workers={workers}", f"--output={output}", *options],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        timeout=3600,
        check=True,
    )
    seconds = time.perf_counter() - started
    (results,) = output.rglob("results.jsonl")
    return seconds, len(results.read_text().splitlines())


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        figures = {workers: run(workers, Path(name), sys.argv[1:]) for workers in (2, 1)}
    for workers, (seconds, trials) in sorted(figures.items()):
        print(
            f"{workers} workers: {trials} trials in {seconds:.1f} s, {seconds / trials:.3f} s each"
        )
    print(f"two workers are {figures[1][0] / figures[2][0]:.2f} times as fast as one")


if __name__ == "__main__":
    main()
