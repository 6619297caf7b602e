"""Proposed entries: what they say, and that the patch makes a table that wants only its reasons."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet

sys.path.append(str(Path(__file__).parent / "report"))
from synthetic import HOSTILE, cell, failed, passed, write_run

from orchestrator.cells import Cell
from orchestrator.expectations import Table, TableError, load_tables
from orchestrator.proposals import Proposal, patch, proposals, stable
from orchestrator.report import build, merge
from orchestrator.report.text import HIDDEN
from suites.trial import Outcome, Stage

CELLS = {"tf4": cell(packages={"transformers": "4.48.3"}), "tf5": cell(), "next": cell("2.14.1")}
PINNED = {
    name: Cell(
        name, "", SpecifierSet(),
        tuple(f"{package}=={record.packages[package].partition('+')[0]}"
              for package in ("torch", "transformers")),
        None, {"MKL_ENABLE_INSTRUCTIONS": "SSE4_2"}, Path(f"envs/{name}.toml"),
    )
    for name, record in CELLS.items()
}  # fmt: skip


def proposed(tmp_path, results):
    merged = merge([write_run(tmp_path / "run", results, cells=CELLS)])
    return list(proposals(build(merged, Table([]), {}), merged, {"torch", "transformers"}))


def test_an_entry_says_what_came(tmp_path):
    diagnostic = "ValueError: no aten.foo at 0x7f00, in /tmp/x/y.py, 3 of 4\nmore"
    (entry,) = proposed(tmp_path, [failed("F_relu", "tf5", diagnostic=diagnostic), passed("F_elu")])
    assert entry == Proposal(
        "F_relu", "pt2", "pnnx", "always", "failed", "convert", "ValueError: no aten.foo at"
    )
    assert str(entry).splitlines()[0] == "[[expect]]"
    assert str(entry).splitlines()[-1] == 'reason = ""'


def test_cells_that_came_to_the_same_are_one_entry(tmp_path):
    entries = proposed(
        tmp_path,
        [failed("F_relu", name, diagnostic=f"needs {n} more") for n, name in enumerate(CELLS)],
    )
    assert [(entry.when, entry.diagnostic) for entry in entries] == [("always", "needs")]


@pytest.mark.parametrize(
    ("bad", "when"),
    [
        (["next"], "torch>=2.14.1"),
        (["tf4", "tf5"], "torch<=2.13.0"),
        (["tf4"], "transformers<=4.48.3"),
        (["tf4", "next"], ""),  # nothing tells them apart: a person must
    ],
)
def test_when_tells_the_cells_apart(tmp_path, bad, when):
    results = [failed("a", name) if name in bad else passed("a", name) for name in CELLS]
    (entry,) = proposed(tmp_path, results)
    assert entry.when == when


def test_what_came_otherwise_is_an_entry_of_its_own(tmp_path):
    crashed = failed("a", "next", outcome=Outcome.crashed, stage=Stage.infer, diagnostic="killed")
    entries = proposed(tmp_path, [failed("a", "tf5"), failed("a", "tf4"), crashed])
    assert [(entry.when, entry.outcome) for entry in entries] == [
        ("torch>=2.14.1", "crashed"),
        ("torch<=2.13.0", "failed"),
    ]


@pytest.mark.parametrize(
    ("diagnostic", "part"),
    [
        (
            "Mismatch: output[3]: 3 of 24 values differ, at most by 1.2e-05",
            "values differ, at most by",
        ),
        ("transformers 4.48.3 has no qwen3", "has no qwen3"),
        (
            "it wrote /tmp/abc/F_relu_pnnx.py, which is no Python",
            "F_relu_pnnx.py, which is no Python",
        ),
        ("\n\n  Unsupported: aten.foo, at /a/b.py:12 `return x`; mend it", "Unsupported: aten.foo"),
        ("the trial was killed by SIGSEGV at 0x12", "the trial was killed by SIGSEGV at"),
        ("12 34", ""),
    ],
)
def test_stable_part(diagnostic, part):
    assert stable([diagnostic]) == part
    assert part in diagnostic


def test_a_long_line_is_known_by_its_beginning():
    assert stable(["x" * 1_000_000]) == "x" * 120


@settings(deadline=None)
@given(st.text(max_size=400) | st.just(HOSTILE))
def test_a_stable_part_is_one_short_line_of_the_text(text):
    part = stable([text])
    assert part in text
    assert "\n" not in part
    assert not HIDDEN.search(part)
    assert len(part) <= 120


@pytest.mark.parametrize(
    "before",
    [None, "", "# a comment\n", "# no end of line", '[[expect]]\n# "\r\n\n\n', "# \u2028\n"],
)
def test_git_applies_the_patch(tmp_path, before):
    entries = [
        Proposal("F_relu", "pt2", "pnnx", "always", "failed", "export", 'says "no" \\ \x7f é'),
        Proposal("F_elu", "ts", "pnnx", "always", "failed", "export", "no"),
    ]
    folder = tmp_path / "suites" / "expectations"
    folder.mkdir(parents=True)
    table = folder / "functional.toml"
    if before is not None:
        table.write_bytes(before.replace("[[expect]]", "").encode())
        before = table.read_bytes().decode()
    text = patch("suites/expectations/functional.toml", before, entries)
    git = ["git", "-c", "core.autocrlf=false", "apply", "--whitespace=nowarn", "-"]
    subprocess.run(git, cwd=tmp_path, input=text.encode(), check=True, timeout=30)
    if before:
        assert table.read_bytes().startswith(before.encode())
    with pytest.raises(TableError, match="`reason` is empty; write it"):
        load_tables(folder, ["F_relu", "F_elu"], PINNED)
    filled = table.read_bytes().replace(b'reason = ""', b'reason = "because"')
    table.write_bytes(filled)
    found = load_tables(folder, ["F_relu", "F_elu"], PINNED).entries
    assert [entry.diagnostic for entry in found] == [entry.diagnostic for entry in entries]


def test_filled_entries_make_the_run_green(tmp_path):
    results = [
        *(failed("a", name) if name == "next" else passed("a", name) for name in CELLS),
        *(failed("b", name, diagnostic=f"{len(name)}.5 seconds in /{name}/x") for name in CELLS),
        failed("c", "tf4", outcome=Outcome.skipped, stage=Stage.build, diagnostic="needs a GPU"),
    ]  # fmt: skip
    run = write_run(tmp_path / "run", results, cells=CELLS)
    merged = merge([run])
    found = list(proposals(build(merged, Table([]), {}), merged, {"torch", "transformers"}))
    folder = tmp_path / "tables"
    folder.mkdir()
    text = "\n".join(map(str, found)).replace('reason = ""', 'reason = "because"')
    (folder / "t.toml").write_text(text)
    table = load_tables(folder, ["a", "b", "c"], PINNED)
    assert build(merged, table, {}).status == 0
