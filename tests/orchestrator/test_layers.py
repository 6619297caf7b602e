"""Who may import whom: each case in a fresh Python, in which the others cannot be imported."""

from __future__ import annotations

import subprocess
import sys

import pytest
from live import CELL

from orchestrator.cells import load_cells

BLOCK = "import sys; sys.modules.update(dict.fromkeys({blocked!r})); import {modules}"


@pytest.mark.parametrize(
    ("modules", "blocked"),
    [
        # nox's own Python reads the cells.
        ("orchestrator.cells", ["msgspec", "numpy", "ray", "rich", "jinja2", "torch", "converter"]),
        # A cell's Python has no Ray, and nothing of the orchestrator's.
        (
            "orchestrator.runner.client, orchestrator.runner.survey, orchestrator.runner.messages",
            ["ray", "rich", "jinja2", "orchestrator.cluster", "orchestrator.expectations"],
        ),
        # The orchestrator's Python has no torch; Ray takes half a second, and only a run needs it.
        ("orchestrator.cli", ["torch", "ray", "rich", "pytest", "hypothesis"]),
        # Reports read the history, not the other way round.
        ("orchestrator.history", ["ray", "rich", "jinja2", "torch", "orchestrator.report"]),
        ("orchestrator.cluster.drive", ["torch", "numpy.testing"]),
        ("suites.registry, suites.trial", ["torch", "orchestrator", "converter"]),
    ],
)
def test_imports(modules: str, blocked: list[str]) -> None:
    program = BLOCK.format(blocked=blocked, modules=modules)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr


def test_the_runner_needs_only_what_a_cell_has() -> None:
    """In the cell's Python: its whole program, without Ray and without rich."""
    modules = "orchestrator.runner.serve, orchestrator.runner.checkup"
    program = BLOCK.format(
        blocked=["ray", "rich", "jinja2", "orchestrator.cluster"], modules=modules
    )
    python = load_cells()[CELL].python_path()
    done = subprocess.run([python, "-c", program], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
