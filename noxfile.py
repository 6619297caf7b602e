"""Sessions: build the cells' environments, run the matrix, test and lint the project.

`nox -l` lists them; what stands after `--` goes to the program that the session runs.
"""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import nox

ROOT = Path(__file__).parent
sys.path.insert(0, str(ROOT))

from orchestrator.cells import Cell, load_cells  # noqa: E402

nox.needs_version = ">=2025.5"
nox.options.default_venv_backend = "virtualenv"
nox.options.sessions = ["lint", "tests"]
nox.options.reuse_venv = "yes"
nox.options.error_on_external_run = True

PYTHON = "3.11"
CELLS = load_cells()
MAIN_CELL = "torch213-tf5"
STAMP = "installed.txt"
"""Says what an environment was made of: while that is the same, nothing is installed again."""


def install(session: nox.Session, *what: str) -> None:
    """Install the project with extras and pins, unless this environment has just that already."""
    wanted = "\n".join([*what, hashlib.sha256((ROOT / "pyproject.toml").read_bytes()).hexdigest()])
    stamp = Path(session.virtualenv.location, STAMP)
    if stamp.exists() and stamp.read_text() == wanted:
        return
    session.install(*what)
    stamp.write_text(wanted)


def python(session: nox.Session, environment: str) -> str:
    """The Python of another session's environment, which `requires=` has built."""
    home = Path(session.cache_dir).parent / environment
    return str(home / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python"))


def pnnx_parity(session: nox.Session, command: str, *arguments: str) -> None:
    """Run the orchestrator in its own environment, which has Ray and no torch."""
    session.run(
        python(session, "orchestrator"), "-m", "orchestrator.cli", command, *arguments,
        *session.posargs, external=True,
    )  # fmt: skip


def run_cells(session: nox.Session, cells: Sequence[str], *options: str) -> None:
    pnnx_parity(session, "run", *[f"--cell={cell}" for cell in cells], *options)


@nox.session(python=PYTHON)
@nox.parametrize("cell", [nox.param(cell, id=cell.name) for cell in CELLS.values()])
def env(session: nox.Session, cell: Cell) -> None:
    """Build the environment of a cell."""
    install(session, "-e", ".[suites]", *cell.pins)


@nox.session(python=PYTHON)
def orchestrator(session: nox.Session) -> None:
    """Build the environment of the orchestrator and of the project's own tools."""
    install(session, "-e", ".[orchestrator,suites,lint]", "nox>=2025.5")


@nox.session(venv_backend="none", requires=["orchestrator"])
def lint(session: nox.Session) -> None:
    """Check style, format, types, expectation tables, and that the parity tracker is up to date."""
    for tool in ("ruff check", "ruff format --check", "mypy"):
        session.run(python(session, "orchestrator"), "-m", *tool.split(), external=True)
    pnnx_parity(session, "audit")
    pnnx_parity(session, "tracker", "--check")


@nox.session(venv_backend="none", requires=["orchestrator", f"env({MAIN_CELL})"])
def tests(session: nox.Session) -> None:
    """Run the project's tests: those that need torch in the main cell, the others without it.

    A commit always meets the same examples; `-- --hypothesis-profile default` looks for others.
    """
    parts = {
        f"env-{MAIN_CELL}": ["tests/converter", "tests/suites", "tests/random_models"],
        "orchestrator": ["tests/orchestrator", "tests/test_layering.py"],
    }
    for environment, folders in parts.items():
        session.run(
            python(session, environment), "-m", "pytest", "-n", "2", "--durations", "5",
            "--hypothesis-profile", "ci", *folders, *session.posargs, external=True,
        )  # fmt: skip


@nox.session(venv_backend="none", requires=["env(torch213-av)"])
def vision(session: nox.Session) -> None:
    """Run the tests that need torchvision or torchaudio, in the cell that has both."""
    session.run(
        python(session, "env-torch213-av"), "-m", "pytest", "-m", "vision", "tests/converter",
        *session.posargs, external=True,
    )  # fmt: skip


@nox.session(python=PYTHON)
def browser(session: nox.Session) -> None:
    """Test the report's page in headless Chromium, which Debian's root gets installed."""
    install(session, "-e", ".[browser]")
    session.run(
        "pytest", "-n", "2", "--durations", "5", "tests/browser", *session.posargs,
        env={"CHROMIUM": chromium(session)},
    )  # fmt: skip


def chromium(session: nox.Session) -> str:
    """The program of a Chromium, installed where there is none and that is possible."""
    names = ("chromium", "chromium-browser", "google-chrome")
    if not any(map(shutil.which, names)):
        if not (shutil.which("apt-get") and os.geteuid() == 0):
            session.error("no Chromium: install one (on Debian, `apt-get install chromium`)")
        session.run("apt-get", "update", "--quiet", external=True)
        session.run(
            "apt-get", "install", "--yes", "--quiet", "--no-install-recommends", "chromium",
            external=True,
        )  # fmt: skip
    found = next(filter(None, map(shutil.which, names)), None)
    return found or session.error("apt-get installed no chromium that is on PATH")


@nox.session(venv_backend="none", requires=[f"env({MAIN_CELL})"])
def random_models(session: nox.Session) -> None:
    """Convert random models: 500 new ones each time, or `-- --models 50 --hypothesis-seed 3`."""
    seed = random.randrange(1 << 32)
    session.run(
        python(session, f"env-{MAIN_CELL}"), "-m", "pytest", "-n", "2", "tests/random_models",
        "--models", "500", "--hypothesis-seed", str(seed), *session.posargs, external=True,
    )  # fmt: skip


@nox.session(
    venv_backend="none", requires=["orchestrator", "env(torch213-tf5)", "env(torch213-av)"]
)
def pt2(session: nox.Session) -> None:
    """Run every case once, in the first of the two cells that has what it needs."""
    run_cells(session, ["torch213-tf5", "torch213-av"])


@nox.session(venv_backend="none", requires=["orchestrator", "env(torch213-av)"])
def exports(session: nox.Session) -> None:
    """Run every case exported plainly, strictly and decomposed, and compare pnnx's graphs."""
    run = f"results/exports-{time.strftime('%Y%m%d-%H%M%S')}"
    ways = [f"--export={export}" for export in ("plain", "strict", "decomposed")]
    options = ("--frontend=pt2", "--target=pnnx", *ways, f"--output={run}")
    run_cells(session, ["torch213-av"], *options)
    session.run(python(session, "orchestrator"), "benchmarks/exports.py", run, external=True)


@nox.session(venv_backend="none", requires=["orchestrator", "env(torch213-tf4)"])
def transformers4(session: nox.Session) -> None:
    """Run the transformers cases on transformers 4."""
    run_cells(session, ["torch213-tf4"], "--suite=transformers")


@nox.session(venv_backend="none", requires=["orchestrator"])
def report(session: nox.Session) -> None:
    """Merge runs into the cross-version report; `-- results/A results/B` names them."""
    pnnx_parity(session, "report")
