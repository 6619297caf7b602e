"""pt2pnnx against pnnx: the same models, in turn, in one run; time and peak memory as ratios.

    .nox/orchestrator/bin/python benchmarks/conversion.py [--runs 3] [resnet18 …]

pnnx reads TorchScript and also writes an ONNX file; pt2pnnx reads exported programs. Both write
pnnx's and ncnn's files. Of a model that ncnn cannot express pt2pnnx refuses ncnn's files, where
pnnx writes some that ncnn does not load.

Ends with 1 where a ratio misses its bound. Other programs disturb seconds of wall time more than
those of CPU time: measure on an idle machine.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from measure import Usage, medians, run

ROOT = Path(__file__).resolve().parent.parent
CELL = ROOT / ".nox" / "env-torch213-av"
MODELS = ["resnet18", "vit_b_32", "swin_t", "convnext_tiny", "linears"]

FASTER = 4.0
"""How many times as fast as pnnx pt2pnnx must be at least, in wall time."""
LARGE_MB = 100
LARGE_SHARE, SHARE = 1 / 3, 1.0
"""The most that its peak memory may be of pnnx's, for files beyond LARGE_MB and for others."""

HEAD = (
    f"{'model':14} {'file':>7} {'pt2pnnx':>16} {'pnnx':>16} {'times as fast':>18} {'memory':>7}\n"
    f"{'':14} {'MB':>7} {'s':>8} {'MB':>7} {'s':>8} {'MB':>7} {'wall':>9} {'CPU':>8} {'share':>7}"
)


class Row(NamedTuple):
    """The medians of both programs on one model. `note` says what is not compared."""

    model: str
    file_mb: float
    ours: Usage
    theirs: Usage
    note: str

    @property
    def faster(self) -> float:
        return self.theirs.wall / self.ours.wall

    @property
    def share(self) -> float:
        return self.ours.peak_mb / self.theirs.peak_mb

    def __str__(self) -> str:
        ours, theirs = self.ours, self.theirs
        return (
            f"{self.model:14} {self.file_mb:7.0f} {ours.wall:8.2f} {ours.peak_mb:7.0f}"
            f" {theirs.wall:8.2f} {theirs.peak_mb:7.0f} {self.faster:9.1f}"
            f" {theirs.cpu / ours.cpu:8.1f} {self.share:7.2f}{self.note}"
        )

    def missed(self) -> list[str]:
        """The bounds that it is not within."""
        most = LARGE_SHARE if self.file_mb > LARGE_MB else SHARE
        found = []
        if self.faster < FASTER:
            found.append(f"{self.model}: {self.faster:.1f} times as fast, not {FASTER:.0f}")
        if self.share >= most:
            found.append(f"{self.model}: {self.share:.2f} of pnnx's memory, not below {most:.2f}")
        return found


def compare(model: str, cell: Path, runs: int) -> Row:
    """Convert a model with both programs in turn, `runs` times after one that warms caches."""
    # Importing the package of the pnnx program would import torch.
    (pnnx,) = cell.glob("lib/python*/site-packages/pnnx/pnnx")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run(
            [cell / "bin/python", ROOT / "benchmarks/models.py", folder, model],
            check=True,
            timeout=600,
        )
        program = folder / f"{model}.pt2"
        ours = [sys.executable, "-m", "converter.cli", str(program)]
        theirs = [str(pnnx), str(program.with_suffix(".pt"))]
        turns = []
        for _ in range(1 + runs):
            one = run(ours, fine=(0, 1))
            wrote = program.with_suffix(".ncnn.bin").exists()  # before pnnx writes its own
            turns.append((one, run(theirs)))
            program.with_suffix(".ncnn.bin").unlink()
        size = program.stat().st_size / 1e6
    del turns[0]
    return Row(
        model,
        size,
        medians([turn[0] for turn in turns]),
        medians([turn[1] for turn in turns]),
        "" if wrote else "  without ncnn's files, which it refuses",
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", default=MODELS)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--cell", type=Path, default=CELL, help="an environment with torchvision")
    options = parser.parse_args()
    missed = []
    with tempfile.TemporaryDirectory() as bytecode:
        # An installed program is compiled; this one may lie in a folder that it may not write to.
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = bytecode
        print("medians of", options.runs, "runs in turn; pnnx also writes an ONNX file")
        print(HEAD)
        for model in options.models:
            row = compare(model, options.cell, options.runs)
            print(row, flush=True)
            missed += row.missed()
    for text in missed:
        print(text, file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
