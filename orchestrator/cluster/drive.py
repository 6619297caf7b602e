"""Drive slots through a plan: give each its next trial, and act on what is lost."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import ray
from ray.exceptions import RayError, RayTaskError

from orchestrator.cells import ROOT, Cell, CellError
from orchestrator.cluster.build import BUILD_LIMIT
from orchestrator.cluster.connect import Capacity
from orchestrator.cluster.schedule import Lane, Schedule
from orchestrator.cluster.slot import Slot
from orchestrator.errors import UsageError
from orchestrator.plan import Planned
from orchestrator.record import CellRecord
from orchestrator.runner.client import GRACE, START_LIMIT, RunnerDied
from orchestrator.runner.messages import Order
from orchestrator.spelling import command
from suites.trial import Outcome, Result, Stage, Trial

ATTEMPTS = 3
"""How often a trial is run, and a slot started, whose runner or node is lost each time."""


class Listener(Protocol):
    """Who hears of a run's progress."""

    def cell(self, name: str, found: CellRecord) -> None:
        """A runner has started, and found its cell so."""

    def result(self, result: Result) -> None:
        """A trial has ended."""

    def lost(self, trial: Trial, reason: str) -> None:
        """A trial is given up: it has no result."""

    def tick(self) -> None:
        """About a second has passed, or less."""


@dataclass(eq=False)
class Worker:
    """An actor, the lane that its runner serves, and the trial that it is at.

    One that is busy without a lane has not come up yet: it may wait for a node for ever.
    """

    device: str
    actor: Any = None
    lane: Lane | None = None
    trial: Planned | None = None
    deadline: float = 0.0


class ClusterLost(UsageError):  # noqa: N818 (an event, as Hangup is)
    """Slots cannot be started any more."""


class Driver:
    """Runs a plan on a connected Ray."""

    def __init__(
        self,
        plan: Sequence[Planned],
        cells: Mapping[str, Cell],
        capacity: Capacity,
        listener: Listener,
    ) -> None:
        self._cells = cells
        self._listener = listener
        self._schedule = Schedule(plan)
        self._gpus = capacity.gpus
        needed = Counter(planned.trial.device for planned in plan)
        devices = ["cpu"] * min(capacity.cpus, needed["cpu"])
        devices += ["cuda"] * min(capacity.gpus, needed["cuda"])
        self._workers = [Worker(device) for device in devices]
        self._busy: dict[Any, Worker] = {}
        self._attempts: Counter[Trial] = Counter()
        self._faults = 0
        self._found: set[str] = set()

    def run(self) -> None:
        """Run every trial.

        Raises CellError for a cell whose runner does not start, and ClusterLost.
        """
        try:
            self._skip_without_gpu()
            for worker in self._workers:
                self._hire(worker)
            while self._unfinished():
                self._assign()
                done, _ = ray.wait(list(self._busy), timeout=1)
                for answer in done:
                    self._hear(self._busy.pop(answer), answer)
                self._expire()
                self._listener.tick()
            self._dismiss()
        finally:
            for worker in self._workers:
                if worker.actor is not None:
                    ray.kill(worker.actor)

    def _hire(self, worker: Worker) -> None:
        """Start an actor with a CPU or a GPU to itself."""
        gpu = worker.device == "cuda"
        actor = ray.remote(Slot).options(num_cpus=0 if gpu else 1, num_gpus=1 if gpu else 0)
        worker.actor = actor.remote(ROOT, gpu=gpu)
        self._await(worker, worker.actor.__ray_ready__.remote(), START_LIMIT)

    def _dismiss(self) -> None:
        """Let the runners end well; one that is still starting is not waited for."""
        busy = set(self._busy.values())
        ends = [worker.actor.stop.remote() for worker in self._workers if worker not in busy]
        if ends:
            ray.wait(ends, num_returns=len(ends), timeout=GRACE)

    def _skip_without_gpu(self) -> None:
        if self._gpus:
            return
        for planned in self._schedule.drop("cuda"):
            lack = "needs a CUDA device, and no worker has one"
            self._listener.result(
                Result(
                    trial=planned.trial,
                    outcome=Outcome.skipped,
                    stage=Stage.build,
                    diagnostic=lack,
                )
            )

    def _unfinished(self) -> bool:
        """Tell whether a trial waits or runs; a runner that still starts is not waited for."""
        return bool(self._schedule) or any(worker.trial for worker in self._busy.values())

    def _assign(self) -> None:
        """Give every free worker its next trial, or a lane."""
        busy = set(self._busy.values())
        for worker in self._workers:
            if worker not in busy:
                self._give(worker)

    def _give(self, worker: Worker) -> None:
        planned = self._schedule.take(worker.lane) if worker.lane else None
        if planned is not None:
            order = Order(planned.trial, planned.limit)
            worker.trial = planned
            self._await(worker, worker.actor.run.remote(order), planned.limit + 2 * GRACE)
            return
        serving = Counter(each.lane for each in self._busy.values() if each.lane)
        lane = self._schedule.best(worker.device, serving)
        if lane is not None:
            worker.lane = lane
            start = worker.actor.start.remote(self._cells[lane.cell])
            self._await(worker, start, BUILD_LIMIT + START_LIMIT)

    def _await(self, worker: Worker, answer: Any, limit: float) -> None:
        self._busy[answer] = worker
        worker.deadline = time.monotonic() + limit

    def _hear(self, worker: Worker, answer: Any) -> None:
        """Take what a worker's actor has answered."""
        try:
            value = ray.get(answer)
        except RayTaskError as error:  # raised in the slot
            if not isinstance(error.cause, RunnerDied):
                raise error.cause from None
            cell = worker.lane.cell if worker.lane else ""
            if worker.trial is None and cell not in self._found:
                text = f"cell {cell}: {error.cause}; run: {command('doctor', cell)}"
                raise CellError(text) from None
            self._lose(worker, str(error.cause))
            return
        except RayError as error:  # the slot itself, or its node, is gone
            self._replace(worker, f"its slot was lost ({type(error).__name__})")
            return
        self._faults = 0
        if isinstance(value, CellRecord):
            assert worker.lane is not None
            self._found.add(worker.lane.cell)
            self._listener.cell(worker.lane.cell, value)
        elif isinstance(value, Result):
            value.attempts += self._attempts[value.trial]
            worker.trial = None
            self._listener.result(value)

    def _expire(self) -> None:
        """Give up waiting for slots that are silent beyond every limit of their own."""
        now = time.monotonic()
        for answer, worker in list(self._busy.items()):
            if now <= worker.deadline:
                continue
            if worker.lane is not None:
                del self._busy[answer]
                self._replace(worker, "its slot was silent")
            elif any(each.lane for each in self._busy.values()):
                worker.deadline = now + START_LIMIT  # others work meanwhile
            else:
                raise ClusterLost(f"no slot has come up in {START_LIMIT:g} s; see to the cluster")

    def _replace(self, worker: Worker, reason: str) -> None:
        """Put another actor in the place of a lost one."""
        ray.kill(worker.actor)
        self._lose(worker, reason)
        self._hire(worker)

    def _lose(self, worker: Worker, reason: str) -> None:
        """Let what a lost runner was at be done again, within bounds."""
        planned, worker.trial, worker.lane = worker.trial, None, None
        if planned is None:
            self._faults += 1
            if self._faults == ATTEMPTS:
                raise ClusterLost(f"no slot can be started any more: {reason}; see to the cluster")
            return
        self._attempts[planned.trial] += 1
        if self._attempts[planned.trial] == ATTEMPTS:
            self._listener.lost(planned.trial, f"{reason}, {ATTEMPTS} times")
        else:
            self._schedule.put_back(planned)
