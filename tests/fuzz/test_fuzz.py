"""A short run of the fuzzer, and whether it would see what it looks for.

In processes of their own: the judge forks, which one that has run torch must not.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("resource", reason="Windows has neither fork nor limits")

from fuzz import FIXTURES, read
from mutants import ZIP, codes, mutant

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
COUNT = 400


def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, *map(str, words)], capture_output=True, text=True, timeout=600, env=env
    )


def test_damaged_files_convert_or_are_refused() -> None:
    """Always the same ones; `nox -s fuzz` takes others each time."""
    done = run(HERE / "fuzz.py", "--count", str(COUNT), "--jobs", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"damaged {COUNT} times" in done.stdout


def test_the_judge_sees_what_goes_wrong() -> None:
    done = run(HERE / "misbehaving.py")
    assert done.stderr == ""
    seen = dict(line.split(": ") for line in done.stdout.splitlines())
    assert len(seen) == 13
    for way, kind in seen.items():
        assert way.replace("_", " ").startswith(kind), (way, kind)


def test_a_number_makes_the_same_file_again(tmp_path: Path) -> None:
    seeds = [read(path) for path in sorted(FIXTURES.rglob("*.pt2"))[:3]]
    made = [[mutant(seeds[at % 3], random.Random(at)) for at in range(60)] for _ in range(2)]
    assert made[0] == made[1]
    assert len(set(made[0])) > 50


def test_records_of_a_zip_have_a_code_for_each_field() -> None:
    assert {len(codes(record)) for record in ZIP.values()} == {17, 11, 8}
    for record in ZIP.values():
        assert len(codes(record)) == len(record.unpack(bytes(record.size)))


def test_what_is_found_fails_the_run(tmp_path: Path) -> None:
    """A defect that the files of one seed meet: the fuzzer tells it once, with its number."""
    path = next(FIXTURES.rglob("*.pt2"))
    (tmp_path / "run.py").write_text(
        "import sys; sys.path.insert(0, sys.argv[1]); import converter, fuzz\n"
        "def fail(path, **options): raise KeyError('a')\n"
        "fuzz.warm = lambda *_: None; converter.convert = fail\n"
        "sys.exit(fuzz.main(sys.argv[2:]))\n"
    )
    kept = tmp_path / "kept"
    done = run(tmp_path / "run.py", HERE, path, "--count", "3", "--keep", kept)
    assert done.returncode == 1
    assert "escapes 3 times at ?, as 0: KeyError('a')" in done.stdout
    assert {file.name for file in kept.iterdir()} == {"0.pt2", "1.pt2", "2.pt2"}
