"""What faults lead to: a node is left out for a cell, a trial is run again or given up.

It counts by node, by cell and by trial, so that what is wrong with one ends no other.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from suites.trial import Trial

ATTEMPTS = 3
"""How often a trial is run, and a slot or a runner started, that is lost each time."""


class Node(NamedTuple):
    """A machine of the cluster: Ray's id of it, and the name that it has for people."""

    id: str
    name: str


class Faults:
    """The faults of a run, and what is to be done about them."""

    def __init__(self) -> None:
        self._lost: Counter[tuple[str, Node]] = Counter()
        self._well: set[tuple[str, Node]] = set()
        self._out: dict[str, dict[Node, str]] = defaultdict(dict)
        self._attempts: Counter[Trial] = Counter()

    def started(self, cell: str, node: Node) -> None:
        """A runner of the cell is ready on the node: whatever was wrong there is over."""
        self._well.add((cell, node))
        self._lost.pop((cell, node), None)
        self._out[cell].pop(node, None)

    def refused(self, cell: str, node: Node, words: str) -> bool:
        """The node said why it cannot build or start the cell; tell whether it is left out now.

        It is at once, unless the cell has started there before.
        """
        if (cell, node) in self._well:
            return self.lost(cell, node, words)
        return self._leave_out(cell, node, words)

    def lost(self, cell: str, node: Node, words: str) -> bool:
        """A slot was lost as it started the cell there; tell whether the node is left out now."""
        self._lost[cell, node] += 1
        if self._lost[cell, node] < ATTEMPTS:
            return False
        return self._leave_out(cell, node, f"{words}, {ATTEMPTS} times")

    def _leave_out(self, cell: str, node: Node, words: str) -> bool:
        is_new = node not in self._out[cell]
        self._out[cell].setdefault(node, words)
        return is_new

    @property
    def any_left_out(self) -> bool:
        return any(self._out.values())

    def is_left_out(self, cell: str, node: Node) -> bool:
        return node in self._out[cell]

    def cause(self, cell: str, nodes: Sequence[Node]) -> str:
        """Why none of some nodes can run a cell, in their own words; empty where one can."""
        out = self._out[cell]
        if not nodes or not all(node in out for node in nodes):
            return ""
        return "; ".join(dict.fromkeys(out[node] for node in nodes))

    def again(self, trial: Trial) -> bool:
        """A trial's runner or node was lost; tell whether the trial is to be run again."""
        self._attempts[trial] += 1
        return self._attempts[trial] < ATTEMPTS

    def attempts(self, trial: Trial) -> int:
        """How often a trial was run in vain."""
        return self._attempts[trial]
