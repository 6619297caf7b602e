"""pt2pnnx against pnnx: the same models, in turn, in one run; time and peak memory as ratios.

    .nox/orchestrator/bin/python benchmarks/conversion.py [--runs 5] [resnet18 …]

pnnx also writes an ONNX file, and reads TorchScript; pt2pnnx reads exported programs. Both write
pnnx's and ncnn's files. The models are made in the cell torch213-av.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from measure import Usage, medians, run

ROOT = Path(__file__).resolve().parent.parent
CELL = ROOT / ".nox" / "env-torch213-av"
MODELS = ["resnet18"]


def pnnx_program() -> str:
    """The pnnx program of the cell: importing its package would import torch."""
    (program,) = CELL.glob("lib/python*/site-packages/pnnx/pnnx")
    return str(program)


def compare(name: str, folder: Path, runs: int) -> tuple[Usage, Usage]:
    """Convert a model with both programs in turn, `runs` times after one that warms caches."""
    ours = [sys.executable, "-m", "converter.cli", str(folder / f"{name}.pt2")]
    theirs = [pnnx_program(), str(folder / f"{name}.pt")]
    turns = [(run(ours), run(theirs)) for _ in range(runs + 1)][1:]
    return medians([turn[0] for turn in turns]), medians([turn[1] for turn in turns])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", default=MODELS)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run(
            [CELL / "bin/python", ROOT / "benchmarks/models.py", folder, *options.models],
            check=True,
            timeout=1800,
        )
        print("model           pt2pnnx s   pnnx s   times as fast   pt2pnnx MB   pnnx MB   share")
        for model in options.models:
            size = (folder / f"{model}.pt2").stat().st_size / 1e6
            ours, theirs = compare(model, folder, options.runs)
            print(
                f"{model:15} {ours.wall:9.2f} {theirs.wall:8.2f} {theirs.wall / ours.wall:15.1f}"
                f" {ours.peak_mb:12.0f} {theirs.peak_mb:9.0f} {ours.peak_mb / theirs.peak_mb:7.2f}"
                f"   ({size:.0f} MB)"
            )


if __name__ == "__main__":
    main()
