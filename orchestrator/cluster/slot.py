"""What a Ray actor does: own one runner, and run trials in it one at a time."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import ray

from orchestrator.cells import Cell, CellError
from orchestrator.cluster.build import python_of
from orchestrator.cluster.faults import Node
from orchestrator.pins import differing, rebuild
from orchestrator.record import CellRecord
from orchestrator.runner.client import Runner
from orchestrator.runner.messages import Order
from suites.trial import Result


class Slot:
    """One CPU's or GPU's share of the work.

    `checkout` is the driver's folder; `gpu`: its runners see the GPU that Ray gave it.
    """

    def __init__(self, checkout: Path, *, gpu: bool) -> None:
        self._checkout = checkout
        # A cell's variables replace all others, and with them the number of the GPU.
        gpus = os.environ.get("CUDA_VISIBLE_DEVICES") if gpu else None
        self._extra = {"CUDA_VISIBLE_DEVICES": gpus} if gpus else {}
        self._runner: Runner | None = None

    def node(self) -> Node:
        """Tell where this slot has come up."""
        return Node(ray.get_runtime_context().get_node_id(), platform.node())

    def start(self, cell: Cell) -> CellRecord:
        """Start a runner for a cell, in the place of any other; return the cell as it found it.

        On a node that lacks the cell's environment it is built first. Raises RunnerDied, and
        CellError where it cannot be built or run, or is not what the cell pins.
        """
        self.stop()
        where = f"cell {cell.name} on {platform.node()}"
        try:
            python = python_of(cell, self._checkout)
            self._runner = Runner(cell, python, self._extra)
        except OSError as error:
            what = f"{error.filename}: {error.strerror}" if error.filename else str(error)
            raise CellError(f"{where}: {what}; {rebuild(cell)}") from None
        found = self._runner.ready().cell
        if wrong := "; ".join(differing(cell, found.packages)):
            self.stop()
            raise CellError(f"{where}: {wrong}; {rebuild(cell, python.parent.parent)}")
        return found

    def run(self, order: Order) -> list[Result]:
        """Run trials that share a conversion. Raises RunnerDied; `start` again then."""
        assert self._runner is not None
        return self._runner.run(order)

    def stop(self) -> None:
        """End the runner, if there is one."""
        if self._runner is not None:
            self._runner.close()
            self._runner = None
