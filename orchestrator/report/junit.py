"""`junit.xml`: a test suite for each cell, a test case for each trial.

The layout is the common one (testsuites, testsuite, properties, testcase with failure, error or
skipped) that Jenkins, GitLab and the usual viewers read.
"""

from __future__ import annotations

from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from orchestrator.expectations import Verdict
from orchestrator.report.headline import UNSAID, absences
from orchestrator.report.model import Cell, Missing, Report, Row
from orchestrator.report.text import gist
from suites.trial import PLAIN, Outcome


def junit(report: Report) -> str:
    """The report as XML, to be written as UTF-8."""
    suites = Element("testsuites", name="pnnx-parity")
    for cell in report.cells:
        suites.append(_suite(report, cell))
    if report.absent or report.warnings:
        suites.append(_incomplete(report))
    _total(suites)
    ElementTree.indent(suites)
    text: str = ElementTree.tostring(suites, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'


def _suite(report: Report, cell: Cell) -> Element:
    suite = Element("testsuite", name=cell.label, timestamp=f"{report.created:%Y-%m-%dT%H:%M:%S}")
    if cell.record is not None:
        properties = SubElement(suite, "properties")
        facts = {"python": cell.record.python, "platform": cell.record.platform}
        for name, value in (facts | cell.record.packages | cell.record.env).items():
            SubElement(properties, "property", name=name, value=value)
    for row in report.rows:
        if row.cell == cell.label:
            suite.append(_case(row, report.diagnostic(row)))
    for missing in report.missing:
        if missing.cell == cell.label:
            case = SubElement(
                suite, "testcase", classname=cell.label, name=_name(missing), time="0"
            )
            SubElement(
                case, "error", type="missing", message=f"no result: {missing.cause or UNSAID}"
            )
    cases = suite.findall("testcase")
    suite.set("tests", str(len(cases)))
    for kind, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(kind, str(sum(case.find(tag) is not None for case in cases)))
    suite.set("time", f"{sum(float(case.get('time', 0)) for case in cases):.3f}")
    return suite


def _incomplete(report: Report) -> Element:
    """What ought to be in the report and is not, each as an error."""
    texts = [*absences(report), *report.warnings]
    count = str(len(texts))
    suite = Element(
        "testsuite", name="incomplete", tests=count, failures="0", errors=count, skipped="0"
    )
    for text in texts:
        case = SubElement(suite, "testcase", classname="incomplete", name=text, time="0")
        SubElement(case, "error", type="missing", message=text)
    return suite


def _case(row: Row, diagnostic: str) -> Element:
    case = Element(
        "testcase",
        classname=f"{row.cell}.{row.suite or 'unknown'}",
        name=_name(row),
        time=f"{row.total:.3f}",
    )
    if row.verdict is Verdict.expected:
        # What an entry expects is not run down as a failure, nor hidden among the passes.
        message = f"expected, {row.what}: {row.why} ({row.expectation})"
        SubElement(case, "skipped", type="expected", message=message).text = diagnostic
    elif not row.verdict.green:
        broken = row.outcome in (Outcome.crashed, Outcome.timed_out)
        message = f"{row.why}: {gist(diagnostic)}" if diagnostic else row.why
        text = f"{diagnostic}\n\nagain: {row.command}"
        tag = "error" if broken else "failure"
        SubElement(case, tag, type=f"{row.verdict}.{row.outcome}", message=message).text = text
    return case


def _name(trial: Row | Missing) -> str:
    path = [trial.frontend, trial.target, trial.device]
    return f"{trial.case}[{'-'.join(path if trial.export == PLAIN else [*path, trial.export])}]"


def _total(suites: Element) -> None:
    for name in ("tests", "failures", "errors", "skipped"):
        suites.set(name, str(sum(int(suite.get(name, 0)) for suite in suites)))
    suites.set("time", f"{sum(float(suite.get('time', 0)) for suite in suites):.3f}")
