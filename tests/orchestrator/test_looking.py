"""The commands that look at runs: audit, expect, show. Made-up runs of real cases."""

from __future__ import annotations

import os
import pty
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent / "report"))
from synthetic import HOSTILE, cell, failed, passed, write_run

from orchestrator import runs
from orchestrator.cells import ROOT
from orchestrator.cli import main
from orchestrator.commands import options
from orchestrator.commands.history import sparkline
from orchestrator.spelling import command
from suites.trial import Trial

CELL = "torch213-tf5"
ENTRY = """[[expect]]
case = "F_elu"
frontend = "pt2"
target = "{target}"
when = "{when}"
outcome = "failed"
stage = "convert"
diagnostic = "aten.foo"
reason = "a reason"
"""


@pytest.fixture(autouse=True)
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Empty tables, and results/ in a place of its own."""
    folder = tmp_path / "expectations"
    folder.mkdir()
    monkeypatch.setattr(options, "EXPECTATIONS", folder)
    monkeypatch.setattr(runs, "RESULTS", tmp_path / "results")
    return folder


@pytest.fixture
def run(tmp_path: Path) -> Path:
    results = [
        failed("F_relu", CELL, diagnostic="first line\nlast line " + "x" * 5000 + " end"),
        failed("F_elu", CELL),
        passed("F_elu", CELL, "ts"),
    ]
    plan = [*(result.trial for result in results), Trial("F_relu", CELL, "ts", "pnnx")]
    return write_run(tmp_path / "results" / "run", results, cells={CELL: cell()}, plan=plan)


def test_a_report_that_cannot_be_written_is_told(tmp_path, monkeypatch, capsys):
    whole = write_run(tmp_path / "results" / "whole", [passed("F_elu", CELL)], cells={CELL: cell()})
    (whole / "index.html").mkdir()
    assert main(["run", "--resume", "whole"]) == 3  # what was run is there, the report is not
    assert capsys.readouterr().err == f"pnnx-parity: {whole}/index.html: Is a directory\n"
    (tmp_path / "file").touch()
    assert main(["report", str(whole), "--output", str(tmp_path / "file")]) == 2
    assert "file: File exists; mend that, or give another --output" in capsys.readouterr().err
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "none" / "summary"))
    assert main(["report", str(whole), "--output", str(tmp_path / "report")]) == 2
    assert "none/summary: No such file or directory; mend that" in capsys.readouterr().err


def test_audit_of_the_tables_alone(tables, capsys):
    (tables / "t.toml").write_text(ENTRY.format(target="pnnx", when="torch>=2.13"))
    assert main(["audit"]) == 0
    assert capsys.readouterr().out.startswith("1 expectation in 1 table: ")


def test_audit_of_the_tables_as_they_are(monkeypatch, capsys):
    monkeypatch.setattr(options, "EXPECTATIONS", ROOT / "suites" / "expectations")
    assert main(["audit"]) == 0, capsys.readouterr().err


def test_audit_names_what_no_trial_can_meet(tables, capsys):
    entries = [
        ENTRY.format(target="pnnx", when="torch<2"),
        ENTRY.format(target="ncnn", when="always").replace("F_elu", "F_affine_grid"),
    ]
    (tables / "t.toml").write_text("".join(entries))
    assert main(["audit", "no-such-run"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert f"{tables / 't.toml'}:1: `torch<2` holds in no cell that can run F_elu" in lines[0]
    assert lines[1].endswith("F_affine_grid has no target ncnn; correct it, or delete it")


def test_audit_names_every_fault(tables, capsys):
    entry = ENTRY.format(target="pnnx", when="always")
    wrong = [entry.replace("F_elu", "F_elv"), entry.replace("a reason", ""), entry, entry]
    (tables / "a.toml").write_text("".join(wrong))
    (tables / "b.toml").write_text("[[expect")
    assert main(["audit"]) == 2
    lines = capsys.readouterr().err.splitlines()
    parts = ["a.toml:2: there is no", "a.toml:18: `reason` is empty", "b.toml:1: not TOML"]
    for line, part in zip(lines, [*parts, "a.toml:28: overlaps with"], strict=True):
        assert line.startswith(f"pnnx-parity: {tables}/{part}")


def test_audit_of_a_run(run, tables, capsys):
    (tables / "t.toml").write_text(ENTRY.format(target="pnnx", when="always"))
    assert main(["audit", "run"]) == 3  # a trial is missing
    out = capsys.readouterr().out
    assert "1 unexpected; incomplete: 1 trial without a result" in out
    assert "unexpected: F_relu: failed at convert, and no entry expects it" in out
    assert "F_elu" not in out


def test_audit_of_two_runs_with_a_stale_entry(tmp_path, run, tables, capsys):
    results = [passed("F_relu", CELL), passed("F_relu", CELL, "ts"), passed("F_elu", CELL)]
    later = write_run(tmp_path / "later", results, cells={CELL: cell()}, day=1)
    (tables / "t.toml").write_text(ENTRY.format(target="pnnx", when="always"))
    assert main(["audit", str(run), str(later)]) == 1
    assert "stale: F_elu: passes now: delete the entry" in capsys.readouterr().out


def test_expect_prints_a_patch(run, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("orchestrator.commands.expect.ROOT", tmp_path)
    assert main(["expect", "run"]) == 0
    printed, error = capsys.readouterr()
    assert error == "proposed: 2; write each reason: the tables are refused until then\n"
    subprocess.run(
        ["git", "apply", "-"], cwd=tmp_path, input=printed.encode(), check=True, timeout=30
    )
    table = tmp_path / "expectations" / "functional.toml"
    assert main(["audit", "run"]) == 2
    assert f"{table}:9: `reason` is empty; write it" in capsys.readouterr().err
    table.write_text(table.read_text().replace('reason = ""', 'reason = "so it is"'))
    assert main(["audit", "run"]) == 3
    assert "2 expected" in capsys.readouterr().out


def test_expect_has_nothing_to_say(tmp_path, capsys):
    write_run(tmp_path / "results" / "good", [passed("F_relu", CELL)], cells={CELL: cell()})
    assert main(["expect", "good"]) == 0
    assert capsys.readouterr() == ("", "proposed: 0; nothing to expect\n")


def test_expect_leaves_stale_entries_to_a_person(run, tables, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("orchestrator.commands.expect.ROOT", tmp_path)
    (tables / "t.toml").write_text(ENTRY.format(target="pnnx", when="always").replace("foo", "bar"))
    assert main(["expect", "run"]) == 0
    printed, error = capsys.readouterr()
    assert "F_elu" not in printed
    assert f"stale: failed at convert as {tables / 't.toml'}:1 expects, but not with" in error


def test_show(run, capsys):
    assert main(["show", "run", "F_relu"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("F_relu, suites/functional/")
    assert f"{CELL}: pt2 → pnnx: failed at convert: unexpected" in lines
    assert "  | first line" in lines
    assert any(line.startswith("  | last line x") and line.endswith(" end") for line in lines)
    assert "  ms: build 10, eager 20, export 30, convert 40" in lines
    assert f"  again: {command('run', '--cell', CELL, '--case', 'F_relu')}" in "\n".join(lines)
    assert f"{CELL}: ts → pnnx: no result: the run did not come to its end" in lines
    assert lines[-1] == "  torch 2.13.0+cpu, transformers 5.16.1, numpy 2.4.0"


def test_show_obeys_no_diagnostic(tmp_path, capsys):
    results = [failed("F_relu", CELL, diagnostic=HOSTILE)]
    write_run(tmp_path / "results" / "bad", results, cells={CELL: cell()})
    assert main(["show", "bad", "F_relu"]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert "<script>" in out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["show", "run", "F_rel"], "run has no case 'F_rel'; did you mean F_relu"),
        (["show", "ran", "F_relu"], "no run at 'ran': it has no run.json; did you mean run"),
        (["audit", "ran"], "no run at 'ran'"),
        (["expect", "ran"], "no run at 'ran'"),
        (["expect"], "the following arguments are required: RUN"),
    ],
)
def test_mistakes(run, words, says, capsys):
    assert main(words) == 2
    assert says in capsys.readouterr().err


def test_the_end_of_a_report_tells_where_to_look_closer(run, tmp_path, capsys):
    """Also where the runs lie elsewhere, under other names than they were made with."""
    elsewhere = run.rename(tmp_path / "of machine 2")
    main(["report", str(elsewhere), "--output", str(tmp_path / "report")])
    (line,) = re.findall("^look closer: .*pnnx-parity (.*)", capsys.readouterr().out, re.MULTILINE)
    assert main(shlex.split(line)) == 0
    assert capsys.readouterr().out.startswith("F_elu, suites/functional/")


def take(seconds, case, **where):
    result = passed(case, CELL, **where)
    result.seconds = {"infer": seconds}
    return result


def test_history_of_a_case(tmp_path, capsys):
    results = [
        take(1.0, "F_relu"),
        take(2.0, "F_relu"),
        failed("F_relu", CELL),
        take(4.0, "F_relu"),
    ]
    for day, result in enumerate(results):
        torch = "2.13.0" if day < 2 else "2.14.1"
        strict = passed("F_relu", CELL, "ts")
        cells = {CELL: cell(torch)}
        write_run(tmp_path / "results" / f"run{day}", [result, strict], cells=cells, day=day)
    assert main(["history", "--rebuild"]) == 0
    assert capsys.readouterr().out.endswith("history.sqlite: 4 runs read\n")
    assert main(["history", "F_relu"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "F_relu: 4 runs, 2026-11-01 to 2026-11-04"
    assert [line.split() for line in lines[2:5]] == [
        ["cell", "path", "passed", "last", "20", "usual", "times", "now"],
        [CELL, *["pt2", "→", "pnnx", "3", "of", "4", "✓✓✕✓", "2.00", "s", "▃▅█", "passed,", "ok"]],
        [CELL, *["ts", "→", "pnnx", "4", "of", "4", "✓✓✓✓", "0.28", "s", "████", "passed,", "ok"]],
    ]
    assert lines[7].split("  ")[-1] == "4 of 4"
    assert lines[7].startswith("torch 2.13.0, transformers 5.16.1")
    assert lines[10] == (
        f"2026-11-03 06:00 run2: {CELL}: pt2 → pnnx: failed at convert, was passed;"
        " with torch 2.13.0 → 2.14.1"
    )
    assert lines[11] == "  | aten.foo is not converted"
    assert lines[13].endswith("pt2 → pnnx: passed, was failed at convert")


def test_history_in_a_terminal(tmp_path):
    """rich's table, which no name or diagnostic can mark up."""
    write_run(tmp_path / "results" / "[red]run", [failed("F_relu", CELL)], cells={CELL: cell()})
    program = (
        "import sys; from pathlib import Path;"
        "from orchestrator import runs; from orchestrator.cli import main;"
        f"runs.RESULTS = Path({str(tmp_path / 'results')!r}); main(['history', '--rebuild']);"
        "sys.exit(main(['history', 'F_relu']))"
    )
    here, there = pty.openpty()
    command = [sys.executable, "-c", program]
    with subprocess.Popen(
        command, stdout=there, cwd=ROOT, env=os.environ | {"COLUMNS": "120"}
    ) as process:
        os.close(there)
        shown = b""
        while chunk := _read(here):
            shown += chunk
        assert process.wait(30) == 0
    assert "pt2 → pnnx" in shown.decode()
    assert "0 of 1" in shown.decode()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # the other end is closed
        return b""


def test_history_that_is_damaged_or_not_there(tmp_path, capsys):
    assert main(["history", "F_relu"]) == 2
    assert "pnnx-parity history --rebuild" in capsys.readouterr().err
    run = write_run(tmp_path / "results" / "run", [passed("F_relu", CELL)], cells={CELL: cell()})
    (tmp_path / "results" / "history.sqlite").write_bytes(b"no database" * 1000)
    assert main(["history", "F_relu"]) == 2
    assert "moved to history.sqlite.damaged-1" in capsys.readouterr().err
    (run / "results.jsonl").write_bytes(b"{}\n")
    assert main(["history", "--rebuild"]) == 3
    printed, error = capsys.readouterr()
    assert "history.sqlite: 0 runs read" in printed
    assert "left out: " in error
    assert main(["history", "F_rel"]) == 2
    assert "the history has no case 'F_rel'; did you mean F_relu" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("values", "bars"), [([], ""), ([0.0], "▁"), ([1, 2, 4], "▃▅█"), ([1.0, 1.0], "██")]
)
def test_sparkline(values, bars):
    assert sparkline(values) == bars
