"""Drive slots through a plan: give each its next trial, and act on what is lost."""

from __future__ import annotations

import enum
import platform
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import ray
from ray.exceptions import RayError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from orchestrator.cells import ROOT, Cell, CellError
from orchestrator.cluster.build import BUILD_LIMIT
from orchestrator.cluster.connect import Capacity
from orchestrator.cluster.faults import ATTEMPTS, Faults, Node
from orchestrator.cluster.schedule import Lane, Schedule
from orchestrator.cluster.slot import Slot
from orchestrator.errors import UsageError
from orchestrator.plan import Planned
from orchestrator.record import CellRecord
from orchestrator.runner.client import GRACE, START_LIMIT, RunnerDied
from orchestrator.runner.messages import Order
from orchestrator.spelling import command
from suites.trial import Outcome, Result, Stage, Trial

RESOURCE = {"cpu": "CPU", "cuda": "GPU"}
"""What Ray calls what a slot takes."""


class Listener(Protocol):
    """Who hears of a run's progress."""

    def cell(self, name: str, found: CellRecord) -> None:
        """A runner has started, and found its cell so."""

    def result(self, result: Result) -> None:
        """A trial has ended."""

    def lost(self, trial: Trial, reason: str) -> None:
        """A trial is given up: it has no result."""

    def lost_cell(self, cell: str, device: str, trials: Sequence[Trial], reason: str) -> None:
        """A cell's trials on a device that are left are given up, as no node can run them."""

    def note(self, text: str) -> None:
        """Something to be told that ends nothing."""

    def tick(self) -> None:
        """About a second has passed, or less."""


class Phase(enum.Enum):
    """What a worker is at."""

    starting = enum.auto()
    """Its actor comes up; it may wait for a node for ever."""
    preparing = enum.auto()
    """Its runner starts, in an environment that may have to be built first."""
    running = enum.auto()
    """It runs trials."""
    idle = enum.auto()


@dataclass(eq=False)
class Worker:
    """An actor on a node, the lane that its runner serves, and the trials that it is at."""

    device: str
    phase: Phase = Phase.starting
    actor: Any = None
    node: Node | None = None
    """None until it has come up."""
    lane: Lane | None = None
    at: Planned | None = None
    deadline: float = 0.0
    losses: int = 0
    """How many actors were lost as they came up, one after another."""


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
        self._faults = Faults()
        self._gpus = capacity.gpus
        needed = Counter(planned.device for planned in plan)
        devices = ["cpu"] * min(capacity.cpus, needed["cpu"])
        devices += ["cuda"] * min(capacity.gpus, needed["cuda"])
        self._workers = [Worker(device) for device in devices]
        self._busy: dict[Any, Worker] = {}

    def run(self) -> None:
        """Run every trial that a node can run; the listener hears of the others.

        Raises ClusterLost.
        """
        try:
            self._skip_without_gpu()
            for worker in self._workers:
                self._hire(worker)
            while self._unfinished():
                self._give_up()
                self._assign()
                done, _ = ray.wait(list(self._busy), timeout=1) if self._busy else ([], [])
                for answer in done:
                    self._hear(self._busy.pop(answer), answer)
                self._expire()
                self._listener.tick()
            self._dismiss()
        finally:
            for worker in self._workers:
                if worker.actor is not None:
                    ray.kill(worker.actor)

    def _hire(self, worker: Worker, node: Node | None = None) -> None:
        """Start an actor with a CPU or a GPU to itself, on a node if one is named."""
        gpu = worker.device == "cuda"
        strategy = NodeAffinitySchedulingStrategy(node.id, soft=False) if node else "DEFAULT"
        actor = ray.remote(Slot).options(
            num_cpus=0 if gpu else 1, num_gpus=1 if gpu else 0, scheduling_strategy=strategy
        )
        worker.actor, worker.node, worker.lane = actor.remote(ROOT, gpu=gpu), node, None
        self._await(worker, Phase.starting, worker.actor.node.remote(), START_LIMIT)

    def _dismiss(self) -> None:
        """Let the runners end well; one that is still starting is not waited for."""
        idle = [worker for worker in self._workers if worker.phase is Phase.idle]
        ends = [worker.actor.stop.remote() for worker in idle]
        if ends:
            ray.wait(ends, num_returns=len(ends), timeout=GRACE)

    def _skip_without_gpu(self) -> None:
        if self._gpus:
            return
        lack = "needs a CUDA device, and no worker has one"
        for lane in self._schedule.waiting():
            if lane.device == "cuda":
                for trial in _trials(self._schedule.drop(lane)):
                    self._listener.result(
                        Result(
                            trial=trial,
                            outcome=Outcome.skipped,
                            stage=Stage.build,
                            diagnostic=lack,
                        )
                    )

    def _unfinished(self) -> bool:
        """Tell whether a trial waits or runs; a runner that still starts is not waited for."""
        return bool(self._schedule) or any(worker.at for worker in self._workers)

    def _give_up(self) -> None:
        """Give up the lanes that nobody serves and no node can."""
        served = {worker.lane for worker in self._workers}
        for lane in self._schedule.waiting():
            if lane in served:
                continue
            reason = ""
            if not any(worker.device == lane.device for worker in self._workers):
                reason = (
                    f"no slot with a {RESOURCE[lane.device]} can be started; see to the cluster"
                )
                if not self._workers:
                    raise ClusterLost(reason)
            elif self._faults.any_left_out:
                nodes = _nodes(lane.device)
                lack = f"no node with a {RESOURCE[lane.device]} is left; see to the cluster"
                reason = self._faults.cause(lane.cell, nodes) if nodes else lack
            if reason:
                trials = _trials(self._schedule.drop(lane))
                self._listener.lost_cell(lane.cell, lane.device, trials, reason)

    def _assign(self) -> None:
        """Give every free worker its next trial, or a lane, or a node where it can have one."""
        for worker in self._workers:
            if worker.phase is Phase.idle and not self._give(worker) and self._faults.any_left_out:
                self._move(worker)

    def _give(self, worker: Worker) -> bool:
        """Give a worker something to do; tell whether there is anything."""
        planned = self._schedule.take(worker.lane) if worker.lane else None
        if planned is not None:
            order = Order(planned.trials, planned.limit)
            worker.at = planned
            answer = worker.actor.run.remote(order)
            limit = (planned.limit + 2 * GRACE) * len(planned.trials)
            self._await(worker, Phase.running, answer, limit)
            return True
        serving = Counter(each.lane for each in self._busy.values() if each.lane)
        barred = [lane for lane in self._schedule.waiting() if self._is_barred(worker, lane)]
        lane = self._schedule.best(worker.device, serving, barred)
        if lane is None:
            return False
        worker.lane = lane
        answer = worker.actor.start.remote(self._cells[lane.cell])
        self._await(worker, Phase.preparing, answer, BUILD_LIMIT + START_LIMIT)
        return True

    def _is_barred(self, worker: Worker, lane: Lane) -> bool:
        return worker.node is not None and self._faults.is_left_out(lane.cell, worker.node)

    def _move(self, worker: Worker) -> None:
        """Put a worker on a node that can run what waits, if its own cannot and none is there."""
        for lane in self._schedule.waiting():
            if lane.device != worker.device or not self._is_barred(worker, lane):
                continue
            able = [n for n in _nodes(lane.device) if not self._faults.is_left_out(lane.cell, n)]
            there = {each.node and each.node.id for each in self._workers}
            if able and there.isdisjoint(node.id for node in able):
                ray.kill(worker.actor)
                self._hire(worker, able[0])
                return

    def _await(self, worker: Worker, phase: Phase, answer: Any, limit: float) -> None:
        self._busy[answer] = worker
        worker.phase = phase
        worker.deadline = time.monotonic() + limit

    def _hear(self, worker: Worker, answer: Any) -> None:
        """Take what a worker's actor has answered."""
        try:
            value = ray.get(answer)
        except RayTaskError as error:  # raised in the slot
            if not isinstance(error.cause, RunnerDied | CellError):
                raise error.cause from None
            self._fail(worker, error.cause)
        except RayError as error:  # the slot itself, or its node, is gone
            self._replace(worker, f"its slot was lost ({type(error).__name__})")
        else:
            self._take(worker, value)
            worker.phase = Phase.idle

    def _take(self, worker: Worker, value: Node | CellRecord | list[Result]) -> None:
        if isinstance(value, Node):
            worker.node, worker.losses = value, 0
        elif isinstance(value, CellRecord):
            assert worker.lane is not None
            assert worker.node is not None
            self._faults.started(worker.lane.cell, worker.node)
            self._listener.cell(worker.lane.cell, value)
        else:
            worker.at = None
            for result in value:
                result.attempts += self._faults.attempts(result.trial)
                self._listener.result(result)

    def _fail(self, worker: Worker, error: Exception) -> None:
        """Act on what a slot, which is well itself, says of its runner."""
        if worker.phase is Phase.preparing:
            assert worker.lane is not None
            assert worker.node is not None
            cell, words = worker.lane.cell, str(error)
            if isinstance(error, RunnerDied):
                where = "" if worker.node.name == platform.node() else "there, in a checkout, "
                mend = f"{where}run: {command('doctor', cell)}"
                words = f"cell {cell} on {worker.node.name}: {words}; {mend}"
            if self._faults.refused(cell, worker.node, words):
                self._listener.note(f"left out: {words}")
        else:
            self._put_back(worker, str(error))
        worker.phase, worker.lane = Phase.idle, None

    def _expire(self) -> None:
        """Give up waiting for slots that are silent beyond every limit of their own."""
        now = time.monotonic()
        for answer, worker in list(self._busy.items()):
            if now <= worker.deadline:
                continue
            if worker.phase is not Phase.starting:
                del self._busy[answer]
                self._replace(worker, "its slot was silent")
            elif any(each.phase is not Phase.starting for each in self._busy.values()):
                worker.deadline = now + START_LIMIT  # others work meanwhile
            else:
                raise ClusterLost(f"no slot has come up in {START_LIMIT:g} s; see to the cluster")

    def _replace(self, worker: Worker, reason: str) -> None:
        """Put another actor in the place of a lost one."""
        ray.kill(worker.actor)
        if worker.phase is Phase.starting:
            worker.losses += 1
            if worker.losses == ATTEMPTS:
                self._workers.remove(worker)
                self._listener.note(f"a slot is given up: {reason}, {ATTEMPTS} times")
                return
        elif worker.phase is Phase.preparing:
            assert worker.lane is not None
            assert worker.node is not None
            words = f"cell {worker.lane.cell} on {worker.node.name}: as it started, {reason}"
            if self._faults.lost(worker.lane.cell, worker.node, words):
                self._listener.note(f"left out: {words}")
        else:
            self._put_back(worker, reason)
        self._hire(worker)

    def _put_back(self, worker: Worker, reason: str) -> None:
        """Let the trials that a lost runner was at be run again, within bounds."""
        planned, worker.at = worker.at, None
        assert planned is not None
        again = [self._faults.again(trial) for trial in planned.trials]
        if all(again):
            self._schedule.put_back(planned)
            return
        for trial in planned.trials:
            self._listener.lost(trial, f"{reason}, {ATTEMPTS} times")


def _trials(planned: Iterable[Planned]) -> list[Trial]:
    return [trial for each in planned for trial in each.trials]


def _nodes(device: str) -> list[Node]:
    """The live nodes that have what a slot takes."""
    return [
        Node(node["NodeID"], node["NodeManagerHostname"])
        for node in ray.nodes()
        if node["Alive"] and node["Resources"].get(RESOURCE[device], 0) >= 1
    ]
