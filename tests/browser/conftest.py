"""The report's page in a real browser: headless Chromium, from a file, without network."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1] / "orchestrator" / "report"))

from example import busy_report, large_report, written

PATIENCE = 30_000
"""Milliseconds that anything may take in a browser."""

expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    program = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if not program:
        pytest.fail("no Chromium: run `nox -s browser`, or let CHROMIUM name the program")
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=program,
            args=["--no-sandbox"] if is_root else [],  # root's needs a sandbox of its own
            timeout=60_000,
        )
        yield chromium
        chromium.close()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what tests measured, which no test asserts: machines differ."""
    for report in terminalreporter.stats.get("passed", []):
        for name, value in report.user_properties:
            terminalreporter.write_line(f"{name}: {value}")


Visit = Callable[..., Page]


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visit]:
    """Open a page: `visit(file, "#q=relu", color_scheme="dark")`.

    In the end, nothing may have been written to the console, failed, or asked for another file.
    """
    contexts, faults, requests = [], [], []

    def open_page(file: Path, address: str = "", **options: object) -> Page:
        options.setdefault("viewport", {"width": 1400, "height": 900})
        context = browser.new_context(**options)
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: faults.append(message.text))
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("dialog", lambda dialog: (faults.append(dialog.message), dialog.dismiss()))
        context.on("request", lambda request: requests.append(request.url.partition("#")[0]))
        page.goto(file.as_uri() + address)
        page.locator("#trials").wait_for()
        allowed.add(file.as_uri())
        return page

    allowed: set[str] = set()
    yield open_page
    for context in contexts:
        context.close()
    assert faults == []
    assert set(requests) <= allowed


@pytest.fixture(scope="session")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with something in every section."""
    folder = tmp_path_factory.mktemp("busy")
    return written(busy_report(folder / "runs"), folder / "out")


@pytest.fixture(scope="session")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of 6 cells × 398 cases × 2 frontends × 2 targets."""
    folder = tmp_path_factory.mktemp("large")
    return written(large_report(folder / "runs"), folder / "out")
