"""Runs made up for the tests of reports: folders as `pnnx-parity run` leaves them."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from pathlib import Path

import msgspec

from orchestrator.expectations import Table
from orchestrator.record import CellRecord, RunRecord
from orchestrator.report import Report, build, merge
from suites.registry import CaseInfo
from suites.trial import Outcome, Result, Stage, Trial

HOSTILE = (
    "<script>alert(1)</script> ]]> </pre> \x00\x1b[31mred\x1b[0m \u202eevil\u2066"
    " | `a` {{ 7*7 }} &amp; \ufffe"
)
START = datetime.datetime(2026, 11, 1, 6, tzinfo=datetime.UTC)
STAGES = {str(stage): 0.01 * (number + 1) for number, stage in enumerate(Stage)}


def cell(torch: str = "2.13.0+cpu", platform: str = "linux", **changes) -> CellRecord:
    packages = {"torch": torch, "transformers": "5.16.1", "numpy": "2.4.0"}
    packages |= changes.pop("packages", {})
    record = CellRecord(
        python="3.11.7",
        platform=platform,
        machine="x86_64",
        packages=packages,
        env={"OMP_NUM_THREADS": "1", "MKL_ENABLE_INSTRUCTIONS": "SSE4_2"},
        threads=1,
    )
    return msgspec.structs.replace(record, **changes)


def passed(case: str, cell: str = "a", frontend: str = "pt2", target: str = "pnnx") -> Result:
    trial = Trial(case, cell, frontend, target)
    return Result(trial=trial, outcome=Outcome.passed, seconds=dict(STAGES))


def failed(
    case: str,
    cell: str = "a",
    frontend: str = "pt2",
    target: str = "pnnx",
    *,
    diagnostic: str = "aten.foo is not converted",
    stage: Stage = Stage.convert,
    outcome: Outcome = Outcome.failed,
) -> Result:
    return Result(
        trial=Trial(case, cell, frontend, target),
        outcome=outcome,
        stage=stage,
        diagnostic=diagnostic,
        seconds=dict(list(STAGES.items())[: list(Stage).index(stage) + 1]),
    )


def write_run(
    folder: Path,
    results: Iterable[Result],
    *,
    cells: dict[str, CellRecord] | None = None,
    plan: Iterable[Trial] | None = None,
    day: int = 0,
) -> Path:
    """Write run.json and results.jsonl; `day` counts from START to when it was started."""
    results = list(results)
    started = START + datetime.timedelta(days=day)
    record = RunRecord(
        run=folder.name,
        started=started,
        finished=started + datetime.timedelta(seconds=98.3),
        command=["run", "--cell", "a"],
        commit="0123456789abcdef",
        versions={"ray": "2.60.0"},
        cpu="Some CPU @ 2 GHz",
        cores=2,
        workers=2,
        plan=[result.trial for result in results] if plan is None else list(plan),
        cells={"a": cell()} if cells is None else cells,
        seconds={"start": 3.1, "trials": 95.2},
    )
    folder.mkdir(parents=True)
    (folder / "run.json").write_bytes(msgspec.json.encode(record))
    (folder / "results.jsonl").write_bytes(
        b"".join(msgspec.json.encode(r) + b"\n" for r in results)
    )
    return folder


def report_of(*folders: Path, entries: Iterable[object] = (), suites: str = "functional") -> Report:
    """Merge and judge; every case that the runs have is of one suite."""
    merged = merge(folders)
    names = {trial.case for _, trial in merged.results}
    infos = {
        name: CaseInfo(name, suites, "functional/some.py", 1, (), ("pnnx",), ("cpu",), 60.0)
        for name in names
    }
    return build(merged, Table(entries), infos)
