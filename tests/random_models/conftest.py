"""`--models N`: how many random models each test composes; `--hypothesis-seed S` which ones."""

from __future__ import annotations

import pytest

FEW = 12
"""Enough for every commit; the session `random_models` takes 500."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--models", type=int, default=FEW, help=f"default: {FEW}")


@pytest.fixture
def count(pytestconfig: pytest.Config) -> int:
    return int(pytestconfig.getoption("--models", FEW))


@pytest.fixture
def fresh(pytestconfig: pytest.Config) -> bool:
    """Whether a seed was given; the same models are composed each time otherwise."""
    return pytestconfig.getoption("--hypothesis-seed", None) is not None
