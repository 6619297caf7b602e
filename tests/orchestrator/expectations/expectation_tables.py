"""What the tests of expectations share: cells, and entries as TOML text."""

from __future__ import annotations

import json
from pathlib import Path

from packaging.specifiers import SpecifierSet

from orchestrator.cells import Cell
from orchestrator.expectations import Table, load_tables

CASES = ("F_relu", "nn_Conv2d", "torch_topk")

ENTRY = {
    "case": "F_relu",
    "frontend": "pt2",
    "target": "pnnx",
    "when": "always",
    "outcome": "failed",
    "stage": "export",
    "diagnostic": "data-dependent",
    "reason": "torch.export refuses it",
}


def cell(name: str, *pins: str, **env: str) -> Cell:
    return Cell(name, "", SpecifierSet(), pins, None, env, Path(f"envs/{name}.toml"))


CELLS = {
    "old": cell("old", "torch==2.12.1", "transformers==4.48.3", MKL_ENABLE_INSTRUCTIONS="SSE4_2"),
    "new": cell("new", "torch===2.14.1", "transformers==5.16.1"),
}


def entry(**changes: str | None) -> str:
    """ENTRY with changes (None leaves a key out), a key a line, in the order of ENTRY."""
    keys = {key: value for key, value in (ENTRY | changes).items() if value is not None}
    return "[[expect]]\n" + "".join(f"{key} = {json.dumps(text)}\n" for key, text in keys.items())


def load(folder: Path, *entries: str) -> Table:
    """Load a folder that holds one table of these entries, `table.toml`."""
    (folder / "table.toml").write_text("\n".join(entries), encoding="utf-8")
    return load_tables(folder, CASES, CELLS)
