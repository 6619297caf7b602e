"""Two entries may not speak of one trial in any cell of envs/."""

from __future__ import annotations

import pytest
from expectation_tables import entry, load

from orchestrator.expectations import Facts, TableError
from suites.trial import Trial

APART = [
    ("torch<2.13", "torch>=2.13"),
    ("platform==win32", "platform==linux"),
    ("platform==win32", "platform!=win32"),
    ("device==cpu", "device==cuda"),
    ("mkl==SSE4_2", "mkl==native"),
    ("torch<2.13 and platform==linux", "torch<2.13 and platform==darwin"),
    ("torch==2.13.0", "torch==2.13.0"),  # no cell has it
]
TOGETHER = [
    ("always", "always"),
    ("torch>=2.12", "torch<2.13"),
    ("platform!=win32", "platform!=linux"),  # both hold on darwin
    ("platform==linux", "mkl==native"),
    ("torch>=2.14 and mkl==native", "transformers>=5"),
]


@pytest.mark.parametrize(("first", "second"), APART)
def test_apart(tmp_path, first, second):
    assert len(load(tmp_path, entry(when=first), entry(when=second)).entries) == 2


@pytest.mark.parametrize(("first", "second"), TOGETHER)
def test_together(tmp_path, first, second):
    with pytest.raises(TableError, match=r"table.toml:11: overlaps with .*table.toml:1 in cell"):
        load(tmp_path, entry(when=first), entry(when=second))


@pytest.mark.parametrize("key", ["case", "frontend", "target"])
def test_other_trials_do_not_overlap(tmp_path, key):
    other = {"case": "nn_Conv2d", "frontend": "ts", "target": "ncnn"}[key]
    load(tmp_path, entry(), entry(**{key: other}))


def test_entries_of_two_files_overlap(tmp_path):
    (tmp_path / "another.toml").write_text("# a comment\n" + entry())
    with pytest.raises(TableError, match=r"table.toml:1: overlaps with .*another.toml:2"):
        load(tmp_path, entry())


def test_a_cell_that_strays_from_its_pins_is_refused(tmp_path):
    table = load(tmp_path, entry(when="torch==2.12.1"), entry(when="transformers==5.16.1"))
    strayed = Facts({"torch": "2.12.1", "transformers": "5.16.1"}, {"platform": "linux"})
    with pytest.raises(TableError, match="overlaps"):
        table.match(Trial("F_relu", "old", "pt2", "pnnx"), strayed)
