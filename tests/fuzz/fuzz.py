"""Converts damaged files, each in a process of its own: `python fuzz.py --count 10000 SEEDS…`.

Each ends in a conversion whose files are read again, or in a ConvertError of one line; whatever
else happens is told, one of a kind, with the number that makes the file again (`--only`).
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy: a process with threads is forked

import argparse
import random
import shutil
import sys
import tempfile
import zipfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from judge import Trial, Verdict
from mutants import Entries, mutant

import converter

FIXTURES = Path(__file__).parents[2] / "fixtures"
LARGEST = 256 << 10
"""Bytes of a file that is damaged: larger ones find nothing more, and take longer."""


def read(path: Path) -> Entries:
    with zipfile.ZipFile(path) as file:
        return {name: file.read(name) for name in file.namelist()}


def files(path: Path) -> list[Path]:
    return sorted(path.rglob("*.pt2")) if path.is_dir() else [path]


def options(draw: random.Random) -> dict[str, Any]:
    """The command line takes part too."""
    chosen: dict[str, Any] = {}
    if draw.random() < 0.2:
        chosen["optlevel"] = draw.choice([0, 1])
    if draw.random() < 0.2:
        chosen["fp16"] = False
    if draw.random() < 0.1:
        chosen["inputshape"] = draw.choice(["[2,3,16,16]", "[1,8]", "[4,8,8],[4,8]", "[0]"])
    return chosen


def writer(seeds: Sequence[Entries], draw: random.Random) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(mutant(draw.choice(seeds), draw))


def trials(
    seeds: Sequence[Entries], numbers: Sequence[int], seed: int, jobs: int, folder: Path
) -> Iterator[tuple[int, Verdict]]:
    """Run a trial for each number, `jobs` at a time; each has an empty folder."""
    running: dict[int, tuple[int, Trial]] = {}
    left = list(reversed(numbers))
    while left or running:
        while left and len(running) < jobs:
            number = left.pop()
            place = folder / str(number) / "out"
            place.mkdir(parents=True)
            draw = random.Random(f"{seed}:{number}")
            trial = Trial(place, writer(seeds, draw), options(draw))
            running[trial.pid] = number, trial
        pid, status = os.wait()
        number, trial = running.pop(pid)
        yield number, trial.verdict(status)


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "seeds", nargs="*", type=Path, help="sound files or folders (default: fixtures/)"
    )
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0, help="another one, other damage")
    parser.add_argument("--only", type=int, nargs="+", help="numbers of a run before")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", type=Path, help="where to put files that were not judged sound")
    given = parser.parse_args(words)
    paths = [path for one in given.seeds or [FIXTURES] for path in files(one)]
    seeds = [read(path) for path in paths if path.stat().st_size <= LARGEST]
    if not seeds:
        parser.error("no file to begin with")
    numbers = given.only or range(given.count)
    with tempfile.TemporaryDirectory() as name:
        warm(paths[0], Path(name))
        kinds: Counter[str] = Counter()
        found: dict[tuple[str, str], list[tuple[int, str]]] = defaultdict(list)
        for number, verdict in trials(seeds, numbers, given.seed, given.jobs, Path(name)):
            kinds[verdict.kind] += 1
            if not verdict.is_sound:
                found[verdict.kind, verdict.place].append((number, verdict.told))
                file = Path(name, str(number), "out", "m.pt2")
                if given.keep and file.exists():
                    given.keep.mkdir(parents=True, exist_ok=True)
                    shutil.copy(file, given.keep / f"{number}.pt2")
            shutil.rmtree(Path(name, str(number)))
    print(f"{len(seeds)} files, damaged {len(numbers)} times (--seed {given.seed}):", dict(kinds))
    for (kind, place), cases in sorted(found.items(), key=lambda item: -len(item[1])):
        number, told = min(cases)
        print(f"{kind} {len(cases)} times at {place or '?'}, as {number}: {told}")
    return 1 if found else 0


def warm(path: Path, folder: Path) -> None:
    """Import all that a conversion imports, once for all of them."""
    shutil.copy(path, folder / "warm.pt2")
    converter.convert(folder / "warm.pt2")


if __name__ == "__main__":
    sys.exit(main())
