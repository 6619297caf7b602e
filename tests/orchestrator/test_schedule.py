"""Which lane a free slot takes."""

from __future__ import annotations

from orchestrator.cluster.schedule import Lane, Schedule
from orchestrator.plan import Planned
from suites.trial import Trial

BIG, SMALL, GPU = Lane("big", "cpu"), Lane("small", "cpu"), Lane("big", "cuda")


def trials(lane: Lane, count: int, seconds: float = 1.0) -> list[Planned]:
    return [
        Planned((Trial(f"case{number}", lane.cell, "ts", "pnnx", lane.device),), 60.0, seconds)
        for number in range(count)
    ]


def names(schedule: Schedule, lane: Lane) -> list[str]:
    taken = iter(lambda: schedule.take(lane), None)
    return [planned.trials[0].case for planned in taken]


def test_order_within_a_lane() -> None:
    schedule = Schedule(trials(SMALL, 3))
    first = schedule.take(SMALL)
    assert first is not None
    schedule.put_back(first)
    assert names(schedule, SMALL) == ["case0", "case1", "case2"]
    assert not schedule


def test_every_lane_gets_a_slot_first() -> None:
    schedule = Schedule(trials(BIG, 100) + trials(SMALL, 1))
    assert schedule.best("cpu", {}) == BIG
    assert schedule.best("cpu", {BIG: 1}) == SMALL


def test_then_the_lane_with_most_to_do_for_each_slot() -> None:
    schedule = Schedule(trials(BIG, 100) + trials(SMALL, 40))
    assert schedule.best("cpu", {BIG: 1, SMALL: 1}) == BIG
    assert schedule.best("cpu", {BIG: 3, SMALL: 1}) == SMALL


def test_no_runner_is_started_for_what_is_done_before_it_is_warm() -> None:
    schedule = Schedule(trials(BIG, 2))
    assert schedule.best("cpu", {BIG: 1}) is None
    assert schedule.best("cpu", {}) == BIG


def test_devices_are_apart() -> None:
    schedule = Schedule(trials(BIG, 5) + trials(GPU, 2))
    assert schedule.best("cuda", {}) == GPU
    assert [planned.device for planned in schedule.drop(GPU)] == ["cuda", "cuda"]
    assert schedule.best("cuda", {}) is None
    assert schedule.best("cpu", {}) == BIG


def test_a_slot_is_not_given_what_its_node_cannot_run() -> None:
    schedule = Schedule(trials(BIG, 100) + trials(SMALL, 1))
    assert schedule.best("cpu", {}, {BIG}) == SMALL
    assert schedule.best("cpu", {}, {BIG, SMALL}) is None
    assert schedule.waiting() == [BIG, SMALL]
    assert len(schedule.drop(BIG)) == 100
    assert schedule.waiting() == [SMALL]
