"""What a free slot does next: trials wait in lanes, one for each cell and device."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from orchestrator.plan import Planned

START = 3.0
"""Seconds that a runner takes to start: a lane with less to do for each slot gets no other."""


class Lane(NamedTuple):
    """The trials that one runner can do, one after another."""

    cell: str
    device: str


class Schedule:
    """The trials that wait, in each lane in the order of the plan."""

    def __init__(self, plan: Iterable[Planned]) -> None:
        self._lanes: dict[Lane, deque[Planned]] = {}
        for planned in plan:
            lane = Lane(planned.cell, planned.device)
            self._lanes.setdefault(lane, deque()).append(planned)

    def __bool__(self) -> bool:
        return any(self._lanes.values())

    def take(self, lane: Lane) -> Planned | None:
        """Remove and return the next trial of a lane."""
        waiting = self._lanes.get(lane)
        return waiting.popleft() if waiting else None

    def put_back(self, planned: Planned) -> None:
        """Let a trial that was lost wait again, first in its lane."""
        lane = Lane(planned.cell, planned.device)
        self._lanes.setdefault(lane, deque()).appendleft(planned)

    def waiting(self) -> list[Lane]:
        """The lanes that have trials."""
        return [lane for lane, trials in self._lanes.items() if trials]

    def drop(self, lane: Lane) -> list[Planned]:
        """Remove and return all trials of a lane."""
        return list(self._lanes.pop(lane))

    def best(
        self, device: str, serving: Mapping[Lane, int], barred: Collection[Lane] = ()
    ) -> Lane | None:
        """Choose the lane for a slot whose own is empty; None if it had better stay idle.

        `serving` tells how many slots each lane has. A lane without any comes first; otherwise the
        one with most to do for each of its slots, if that is worth another runner's start. The slot
        cannot serve the lanes that are `barred`.
        """
        waiting = [lane for lane in self.waiting() if lane.device == device and lane not in barred]
        unserved = [lane for lane in waiting if not serving.get(lane)]
        if unserved:
            return max(unserved, key=self._seconds)
        shares = {lane: self._seconds(lane) / serving[lane] for lane in waiting}
        lane = max(shares, key=shares.__getitem__, default=None)
        return lane if lane is not None and shares[lane] > START else None

    def _seconds(self, lane: Lane) -> float:
        return sum(planned.seconds for planned in self._lanes[lane])
