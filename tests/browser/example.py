"""Reports for the browser: one with something in every section, and one of the full size."""

from __future__ import annotations

import datetime
from pathlib import Path

from synthetic import START, cell, failed, passed, report_of, write_run

from orchestrator.expectations import Expectation
from orchestrator.expectations.when import When
from orchestrator.report import Report, write
from orchestrator.report.model import (
    Change,
    Changes,
    Flaky,
    Point,
    Row,
    Share,
    Slower,
    Structure,
    Unlike,
)
from suites.trial import DECOMPOSED, Outcome, Result, Stage, Trial

CELLS = {
    "torch213-tf4": cell(packages={"transformers": "4.48.3"}),
    "torch213-tf5": cell(),
    "torch214-av": cell("2.14.1+cu130"),
}
CASES = ["F_elu", "F_mish", "F_relu", "nn_GRU", "torch_topk", "transformers_qwen3_attention"]
PATHS = [(frontend, target) for frontend in ("ts", "pt2") for target in ("pnnx", "ncnn")]
GUARD = "Unsupported: could not guard on the data-dependent expression Eq(u0, 1)"


def busy_report(folder: Path) -> Report:
    """topk fails where torch ≥ 2.14, qwen3 is skipped where transformers < 5, which is expected, an
    entry for F_relu is stale, nn_GRU crashes everywhere; one trial is missing."""
    results = [
        result(case, cell, frontend, target)
        for case in CASES
        for cell in CELLS
        for frontend, target in PATHS
    ]
    decomposed = Trial("F_elu", "torch213-tf5", "pt2", "pnnx", export=DECOMPOSED)
    results.append(Result(trial=decomposed, outcome=Outcome.passed, seconds={"build": 0.1}))
    plan = [each.trial for each in results] + [
        Trial("F_mish", "torch213-tf5", "pt2", "pnnx", "cuda")
    ]
    run = write_run(folder / "20261103-0600", results, cells=CELLS, plan=plan, day=2)
    report = report_of(run, entries=entries())
    for row in report.rows:
        row.suite = "modules" if row.case.startswith("nn_") else row.suite
    with_history(report)
    return report


def result(case: str, cell: str, frontend: str, target: str) -> Result:
    where = (case, cell, frontend, target)
    if case == "torch_topk" and cell == "torch214-av":
        return failed(*where, stage=Stage.export, diagnostic=f"{GUARD}\n  File topk.py, line 3")
    if case == "nn_GRU" and frontend == "pt2":
        return failed(*where, outcome=Outcome.crashed, diagnostic="killed by SIGSEGV")
    if case == "transformers_qwen3_attention" and cell == "torch213-tf4":
        text = "needs transformers>=5, and this environment has 4.48.3"
        return failed(*where, outcome=Outcome.skipped, stage=Stage.build, diagnostic=text)
    return passed(*where)


def entries() -> list[Expectation]:
    skipped = [
        Expectation(
            case="transformers_qwen3_attention", frontend=frontend, target=target,
            when="transformers<5", outcome=Outcome.skipped, stage=Stage.build,
            diagnostic="needs transformers", reason="transformers 4 has no qwen3",
            file="suites/expectations/transformers.toml", line=3, link="https://example.org/1",
            condition=When.parse("transformers<5", {"transformers"}),
        )
        for frontend, target in PATHS
    ]  # fmt: skip
    stale = Expectation(
        case="F_relu", frontend="pt2", target="ncnn", when="always", outcome=Outcome.failed,
        stage=Stage.convert, diagnostic="aten.relu", reason="not yet", link="",
        file="suites/expectations/functional.toml", line=9, condition=When.parse("always", ()),
    )  # fmt: skip
    return [*skipped, stale]


def with_history(report: Report) -> None:
    """What the history and the suites' graphs would tell."""

    def rows(case: str, **fields: str) -> list[int]:
        return [number for number, row in enumerate(report.rows) if is_of(row, case, **fields)]

    def is_of(row: Row, case: str, **fields: str) -> bool:
        return row.case == case and all(
            getattr(row, name) == value for name, value in fields.items()
        )

    before = "20261102-0600"
    report.changes = Changes(
        since=[before],
        compared=len(report.rows),
        pace=1.3,
        failing=[
            Change(row=row, run=before, what="passed", diagnostic="")
            for row in rows("torch_topk", cell="torch214-av")
        ],
        fixed=[
            Change(
                row=row,
                run=before,
                what="failed at convert",
                diagnostic="aten.relu is not converted",
            )
            for row in rows("F_relu", target="ncnn", frontend="pt2")
        ],
        reworded=[
            Change(row=row, run=before, what="failed at load", diagnostic="no layer GRU")
            for row in rows("nn_GRU", frontend="pt2", target="ncnn")
        ],
        slower=[Slower(row=rows("F_elu")[0], usual=0.1)],
        flaky=[Flaky(row=rows("F_mish")[0], record=[*Outcome, Outcome.passed])],
    )
    report.trend = [
        Point(
            run=f"run{day}", started=START + datetime.timedelta(days=day), trials=73,
            passed=60 + day % 7, seconds=18 + day % 5,
        )
        for day in range(20)
    ]  # fmt: skip
    report.structure = Structure(
        total=Share(same=16, compared=18),
        suites={"functional": Share(same=10, compared=12), "models": Share(same=6, compared=6)},
        unlike=[
            Unlike(
                case="nn_GRU", suite="functional", cell=label, reasons=[],
                differences=["only in ts: pnnx.Expression"],
                unreviewed=["only in ts: pnnx.Expression"],
            )
            for label in ("torch213-tf4", "torch213-tf5")
        ],
        outdated=["suites/structure.toml: F_elu: no such difference: changed"],
    )  # fmt: skip


def written(report: Report, folder: Path) -> Path:
    """The page of a report."""
    write(report, folder)
    return folder / "index.html"


def large_report(folder: Path) -> Report:
    """9,552 trials, of which one case in fifty fails with a diagnostic of its own."""
    cells = {f"torch2{minor}-cell": cell(f"2.{minor}.0") for minor in range(10, 16)}
    results = [
        failed(f"case_{case:03}", label, *path, diagnostic=f"case {case} in {label}: é" * 150)
        if case % 50 == 0
        else passed(f"case_{case:03}", label, *path)
        for case in range(398)
        for label in cells
        for path in PATHS
    ]
    return report_of(write_run(folder / "20261103-0600", results, cells=cells))
