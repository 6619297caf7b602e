"""The charts of the last runs: where their lines, dots and labels stand in an SVG."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from orchestrator.report.model import Point

WIDTH, HEIGHT = 420, 130
LEFT, TOP, BOTTOM = 52.0, 10.0, 104.0
"""The edges of the field in which values stand; labels are left of it and below."""

MARGIN = 8.0
"""Of the first and the last dot from the field's edges."""


class Mark(NamedTuple):
    """A run in a chart."""

    x: float
    y: float
    day: str
    text: str


class Tick(NamedTuple):
    """A labelled line across a chart."""

    y: float
    text: str


class Chart(NamedTuple):
    title: str
    now: str
    """The last value, in words."""
    marks: list[Mark]
    """Oldest first."""
    ticks: list[Tick]
    values: list[str]
    width: int = WIDTH
    height: int = HEIGHT
    left: float = LEFT


def trend(points: Sequence[Point]) -> list[Chart]:
    """Pass rate and duration over the runs; nothing where there is but one to draw."""
    if len(points) < 2:
        return []
    rates = [100 * point.passed / max(point.trials, 1) for point in points]
    seconds = [point.seconds for point in points]
    lowest = float(min(99, math.floor(min(rates))))
    return [
        _chart("of the trials passed", points, rates, (lowest, 100.0), _percent),
        _chart("in the trials that passed", points, seconds, (0.0, _round_up(seconds)), _time),
    ]


def _chart(
    title: str,
    points: Sequence[Point],
    values: Sequence[float],
    span: tuple[float, float],
    told: Callable[[float], str],
) -> Chart:
    low, high = span

    def height(value: float) -> float:
        return round(BOTTOM - (BOTTOM - TOP) * (value - low) / (high - low), 1)

    step = (WIDTH - LEFT - 2 * MARGIN) / (len(points) - 1)
    marks = [
        Mark(
            x=round(LEFT + MARGIN + step * number, 1),
            y=height(value),
            day=f"{point.started:%Y-%m-%d}",
            text=f"{point.run}: {told(value)}, {point.passed:,} of {point.trials:,} passed",
        )
        for number, (point, value) in enumerate(zip(points, values, strict=True))
    ]
    ticks = [Tick(height(value), told(value)) for value in (high, (low + high) / 2, low)]
    texts = [told(value) for value in values]
    return Chart(title, texts[-1], marks, ticks, texts)


def percent(part: int, whole: int) -> str:
    """`99.9%`; 100% is only all of it."""
    return _percent(100 * part / max(whole, 1))


def _percent(value: float) -> str:
    return f"{math.floor(round(value * 10, 6)) / 10:g}%"


def _time(seconds: float) -> str:
    """`8.5 s`, `95 s`, `12 min`."""
    if seconds >= 600:
        return f"{seconds / 60:.0f} min"
    return f"{seconds:.0f} s" if seconds >= 10 else f"{round(seconds, 1):g} s"


def _round_up(values: Sequence[float]) -> float:
    """The least of 1, 2, 5, 10, 20, ... that none of the values is above."""
    most = max(values)
    return next(
        scale * step
        for scale in (10.0**power for power in range(-1, 12))
        for step in (1, 2, 5)
        if scale * step >= most
    )
