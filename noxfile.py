"""Sessions: build the cells' environments, run the matrix, test and lint the project.

`nox -l` lists them; what stands after `--` goes to the program that the session runs.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import random
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import nox
from nox.command import CommandFailed

ROOT = Path(__file__).parent
sys.path.insert(0, str(ROOT))

from orchestrator import interpreters  # noqa: E402
from orchestrator.cells import Cell, CellError, load_cells, pick  # noqa: E402
from suites.system import system  # noqa: E402

nox.needs_version = ">=2025.5"
nox.options.default_venv_backend = "virtualenv"
nox.options.sessions = ["lint", "tests"]
nox.options.reuse_venv = "yes"
nox.options.error_on_external_run = True

PYTHON = "3.11"
CELLS = load_cells()
MAIN_CELL = "torch213-tf5"
VISION_CELL = "torch213-av"
HOW = ("workers", "limit", "address")
"""Options of `pnnx-parity run` that a resumed run takes too."""
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
    return str(system.python(home))


def pnnx_parity(session: nox.Session, command: str, *arguments: str) -> None:
    """Run the orchestrator in its own environment, which has Ray and no torch."""
    session.run(
        python(session, "orchestrator"), "-m", "orchestrator.cli", command, *arguments,
        *session.posargs, external=True,
    )  # fmt: skip


def run_cells(session: nox.Session, cells: Sequence[str], *options: str) -> None:
    pnnx_parity(session, "run", *[f"--cell={cell}" for cell in cells], *options)


def add_environment(cell: Cell) -> None:
    """Add the session that builds the environment of a cell, with the project's Python or one
    that the cell asks for."""

    def env(session: nox.Session) -> None:
        install(session, "-e", ".[suites]", *cell.pins)

    env.__doc__ = f"Build an environment: {cell.description}."
    fits = f"{PYTHON}.99" in cell.python
    python = PYTHON if fits else interpreters.find(cell.python) or str(cell.python)
    nox.session(python=python, name=cell.session)(env)


for each in CELLS.values():
    if not each.base:
        add_environment(each)


@nox.session(python=PYTHON)
def orchestrator(session: nox.Session) -> None:
    """Build the environment of the orchestrator and of the project's own tools."""
    install(session, "-e", ".[orchestrator,suites,lint]", "nox>=2025.5")


@nox.session(venv_backend="none", requires=["orchestrator"])
def lint(session: nox.Session) -> None:
    """Check style, types, workflows, expectation tables, the parity tracker, mentions of cells."""
    for tool in ("ruff check", "ruff format --check", "mypy"):
        session.run(python(session, "orchestrator"), "-m", *tool.split(), external=True)
    workflows = sorted(map(str, Path(".github/workflows").glob("*.yml")))
    session.run(
        python(session, "orchestrator"), "-m", "check_jsonschema",
        "--builtin-schema", "vendor.github-workflows", *workflows, external=True,
    )  # fmt: skip
    if shutil.which("actionlint"):  # its package fetches a program as it is installed: CI has it
        session.run("actionlint", external=True)
    pnnx_parity(session, "audit")
    pnnx_parity(session, "tracker", "--check")
    pnnx_parity(session, "cell", "check")


@nox.session(venv_backend="none", requires=["orchestrator", f"env({MAIN_CELL})"])
def tests(session: nox.Session) -> None:
    """Run the project's tests: those that need torch in the main cell, the others without it.

    A commit always meets the same examples; `-- --hypothesis-profile default` looks for others.
    """
    parts = {
        f"env-{MAIN_CELL}": [
            f"tests/{name}" for name in ("converter", "fuzz", "suites", "random_models")
        ],
        "orchestrator": ["tests/orchestrator", "tests/test_layering.py"],
    }
    for environment, folders in parts.items():
        session.run(
            python(session, environment), "-m", "pytest", "-n", "2", "--durations", "5",
            "--hypothesis-profile", "ci", *folders, *session.posargs, external=True,
        )  # fmt: skip


@nox.session(venv_backend="none", requires=[f"env({VISION_CELL})"])
def vision(session: nox.Session) -> None:
    """Run the tests that need torchvision or torchaudio, in the cell that has both."""
    session.run(
        python(session, f"env-{VISION_CELL}"), "-m", "pytest", "-m", "vision", "tests/converter",
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
def fuzz(session: nox.Session) -> None:
    """Damage fixtures and exported cases, 10,000 times, or `-- --count 50 --seed 3`, and convert.

    What is found is kept in results/fuzz, to be made a test of.
    """
    interpreter = python(session, f"env-{MAIN_CELL}")
    cases = Path(session.create_tmp(), "cases")
    session.run(interpreter, "tests/fuzz/exported.py", str(cases.resolve()), external=True)
    session.run(
        interpreter, "tests/fuzz/fuzz.py", "fixtures", str(cases), "--keep", "results/fuzz",
        "--seed", str(random.randrange(1 << 32)), *session.posargs, external=True,
    )  # fmt: skip


@nox.session(venv_backend="none", requires=[f"env({MAIN_CELL})"])
def random_models(session: nox.Session) -> None:
    """Convert random models: 500 new ones each time, or `-- --models 50 --hypothesis-seed 3`."""
    seed = random.randrange(1 << 32)
    session.run(
        python(session, f"env-{MAIN_CELL}"), "-m", "pytest", "-n", "2", "tests/random_models",
        "--models", "500", "--hypothesis-seed", str(seed), *session.posargs, external=True,
    )  # fmt: skip


@nox.session(
    venv_backend="none", requires=["orchestrator", f"env({MAIN_CELL})", f"env({VISION_CELL})"]
)
def pt2(session: nox.Session) -> None:
    """Run every case once, in the first of the two main cells that has what it needs."""
    run_cells(session, [MAIN_CELL, VISION_CELL])


@nox.session(
    venv_backend="none", requires=["orchestrator", f"env({MAIN_CELL})", f"env({VISION_CELL})"]
)
def ncnn(session: nox.Session) -> None:
    """Run the cases that have the ncnn target, on the ncnn runtime alone."""
    run_cells(session, [MAIN_CELL, VISION_CELL], "--target=ncnn")


@nox.session(venv_backend="none", requires=["orchestrator", "env(torch213-tf4)"])
def transformers4(session: nox.Session) -> None:
    """Run the transformers cases on transformers 4."""
    run_cells(session, ["torch213-tf4"], "--suite=transformers")


@nox.session(venv_backend="none", requires=["orchestrator", f"env({MAIN_CELL})"])
def transformers5(session: nox.Session) -> None:
    """Run the transformers cases on transformers 5."""
    run_cells(session, [MAIN_CELL], "--suite=transformers")


@nox.session(venv_backend="none", requires=["orchestrator", f"env({VISION_CELL})"])
def torchaudio(session: nox.Session) -> None:
    """Run the torchaudio cases."""
    run_cells(session, [VISION_CELL], "--suite=torchaudio")


@nox.session(venv_backend="none", requires=["orchestrator", f"env({VISION_CELL})"])
def torchvision(session: nox.Session) -> None:
    """Run torchvision's networks and operators."""
    run_cells(session, [VISION_CELL], "--suite=models")


@nox.session(venv_backend="none", requires=["orchestrator", f"env({VISION_CELL})"])
def mkl(session: nox.Session) -> None:
    """Compare MKL's kernels and numbers of threads, on the FFT cases and the whole models."""
    cells = [cell for cell in CELLS.values() if cell.environment == VISION_CELL]
    suites = next(cell.suites for cell in cells if cell.suites)
    run_cells(
        session,
        [cell.name for cell in cells],
        "--every-cell",
        *[f"--suite={suite}" for suite in suites],
    )


@nox.session(venv_backend="none", requires=["orchestrator", f"env({VISION_CELL})"])
def exports(session: nox.Session) -> None:
    """Run every case exported plainly, strictly and decomposed, and compare pnnx's graphs."""
    run = f"results/exports-{time.strftime('%Y%m%d-%H%M%S')}"
    ways = [f"--export={export}" for export in ("plain", "strict", "decomposed")]
    options = ("--frontend=pt2", "--target=pnnx", *ways, f"--output={run}")
    run_cells(session, [VISION_CELL], *options)
    session.run(python(session, "orchestrator"), "benchmarks/exports.py", run, external=True)


@nox.session(venv_backend="none", requires=["orchestrator"])
def nightly(session: nox.Session) -> None:
    """Run every case in every cell, and merge them in one report; builds the cells itself.

    `-- --cell NAME` names cells, `-- --low-disk` builds one environment at a time and removes it
    after its cells; what else is given goes to `pnnx-parity run`. A cell that cannot be built or
    run is told in the report, which then ends with 3, and does not end the others.
    """
    parser = argparse.ArgumentParser(prog="nox -s nightly --", allow_abbrev=False)
    parser.add_argument("--cell", action="append")
    parser.add_argument("--low-disk", action="store_true")
    for name in HOW:
        parser.add_argument(f"--{name}")
    options, others = parser.parse_known_args(session.posargs)
    given = {name: getattr(options, name) for name in HOW}
    how = ["--keep-going", *[f"--{name}={value}" for name, value in given.items() if value]]
    cells = buildable(session, options.cell or list(CELLS))
    alone = f"-{cells[0].name}" if len(cells) == 1 else ""  # its folder lies beside other cells'
    folder = Path(f"results/nightly-{time.strftime('%Y%m%d-%H%M%S')}{alone}")
    plan = ["--every-cell", *[f"--cell={cell.name}" for cell in cells], *others]
    homes = {cell.home(): cell for cell in cells}
    rounds = [[home] for home in homes] if options.low_disk else [list(homes)]
    for number, round in enumerate(rounds, 1):
        made = [home for home in round if build(session, homes[home])]
        begun = (ROOT / folder / "run.json").exists()
        words = ["--resume", str(folder)] if begun else [*plan, "--output", str(folder)]
        words += how
        try:
            session.run(
                python(session, "orchestrator"), "-m", "orchestrator.cli", "run", *words,
                success_codes=[0] if number == len(rounds) else range(4), external=True,
            )  # fmt: skip
        finally:
            for home in made if options.low_disk else ():
                shutil.rmtree(home, ignore_errors=True)


def buildable(session: nox.Session, names: Sequence[str]) -> list[Cell]:
    """Return the cells of these names, less those whose Python this machine lacks, with a line."""
    try:
        cells = pick(CELLS, names)
    except CellError as error:
        session.error(str(error))
    found = []
    for cell in cells:
        if cell.home().exists() or interpreters.find(cell.python):
            found.append(cell)
        else:
            session.warn(f"cell {cell.name} is left out: {interpreters.lack(cell.python)}")
    return found or session.error("no cell is left")


def build(session: nox.Session, cell: Cell) -> bool:
    """Build a cell's environment with its own session; tell whether there was none before."""
    is_new = not cell.home().exists()
    with contextlib.suppress(CommandFailed):  # the run says what it has no result of, and why
        session.run(sys.executable, "-m", "nox", "-s", cell.session, external=True)
    return is_new


@nox.session(venv_backend="none", requires=["orchestrator"])
def prepush(session: nox.Session) -> None:
    """Run the cases that the commits to be pushed affect; `-- --install` sets git's hook."""
    pnnx_parity(session, "prepush")


@nox.session(python=PYTHON, reuse_venv=False)
def fixtures(session: nox.Session) -> None:
    """Export the fixtures of a torch again: `-- 2.7.1`. Its environment of 6 GB is removed."""
    (version,) = session.posargs or session.error("which torch? nox -s fixtures -- 2.7.1")
    legacy = tuple(map(int, version.split(".")[:2])) < (2, 8)
    session.install(f"torch=={version}", "numpy", *([] if legacy else ["transformers==5.16.1"]))
    folder = f"fixtures/{'legacy' if legacy else 'producers'}/{version}"
    session.run("python", "fixtures/make.py", folder)
    shutil.rmtree(session.virtualenv.location)


@nox.session(venv_backend="none", requires=["orchestrator"])
def report(session: nox.Session) -> None:
    """Merge runs into the cross-version report; `-- results/A results/B` names them."""
    pnnx_parity(session, "report")


@nox.session(venv_backend="none", requires=["orchestrator"])
def nightly_report(session: nox.Session) -> None:
    """Merge a night's runs, as its last job does; CELLS, as JSON, lists what must be there."""
    cells = json.loads(os.environ.get("CELLS", "[]"))
    pnnx_parity(session, "report", *[f"--expect-cell={cell['name']}" for cell in cells])
