"""docs/security.md tells the limits that the code has."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs/security.md"
ROW = re.compile(r"\| [^|]+ \| (\d+)( [KMGE]iB)? \| `([\w.]+)\.(\w+)` \|")
UNITS = {"": 1, " KiB": 1 << 10, " MiB": 1 << 20, " GiB": 1 << 30, " EiB": 1 << 60}
ROWS = ROW.findall(PAGE.read_text())


def test_all_rows_are_read() -> None:
    assert len(ROWS) == PAGE.read_text().split("## Limits")[1].count("` |")


@pytest.mark.parametrize(("number", "unit", "module", "name"), ROWS)
def test_limits_are_those_of_the_code(number: str, unit: str, module: str, name: str) -> None:
    assert getattr(import_module(f"converter.{module}"), name) == int(number) * UNITS[unit]
