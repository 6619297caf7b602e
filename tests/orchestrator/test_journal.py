"""The journal: what is in it counts, a line that a kill tore does not."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.journal import Journal, JournalError, read
from suites.trial import Outcome, Result, Stage, Trial

RESULTS = [
    Result(trial=Trial("F_relu", "cell", "ts", "pnnx"), outcome=Outcome.passed),
    Result(
        trial=Trial("F_relu", "cell", "pt2", "pnnx"),
        outcome=Outcome.failed,
        stage=Stage.export,
        diagnostic="two\nlines, and \N{GREEK SMALL LETTER ALPHA}",
        seconds={"build": 0.25},
        attempts=2,
        peak_mb=1.5,
    ),
    Result(trial=Trial("nn_GRU", "cell", "ts", "ncnn", "cuda"), outcome=Outcome.skipped),
]


def write(file: Path, results: list[Result]) -> None:
    with Journal(file) as journal:
        for result in results:
            journal.add(result)


def test_reads_what_was_added(tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    assert read(file) == []
    write(file, RESULTS[:1])
    write(file, RESULTS[1:])
    assert read(file) == RESULTS
    assert file.read_bytes().count(b"\n") == 3


@settings(deadline=None)  # each write waits for the disk
@given(data=st.data())
def test_torn_anywhere(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """However far the last line came, the others count, and the run goes on behind them."""
    file = tmp_path_factory.mktemp("torn") / "results.jsonl"
    write(file, RESULTS)
    whole = file.read_bytes()
    size = data.draw(st.integers(0, len(whole)))
    file.write_bytes(whole[:size])
    kept = whole[:size].count(b"\n")
    assert read(file) == RESULTS[:kept]
    write(file, RESULTS[kept:])
    assert file.read_bytes() == whole


def test_a_result_is_in_the_file_when_add_returns(tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    with Journal(file) as journal:
        for number, result in enumerate(RESULTS, 1):
            journal.add(result)
            assert len(read(file)) == number


def test_damage_elsewhere_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    write(file, RESULTS)
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(lines[0] + b"{damaged\n" + lines[2])
    with pytest.raises(JournalError, match=r"results\.jsonl:2: not a result: .*; remove the line"):
        read(file)
    file.write_bytes(lines[0].replace(b"\n", b"\r") + lines[1])  # JSON takes that for a space
    with pytest.raises(JournalError, match=r":1: not a result"):
        read(file)
    file.write_bytes(lines[0] + lines[1] + lines[0])
    with pytest.raises(JournalError, match=r":3: 'cell/F_relu/ts/pnnx/cpu' stands twice"):
        read(file)
