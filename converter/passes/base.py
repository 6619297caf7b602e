"""What every pass is: one rewriting of the graph, checked before and after."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import ClassVar

from converter.ir import Graph


class Pass(ABC):
    """One rewriting. A subclass says in its docstring what a graph looks like before and after.

    `changes_arithmetic`: results may differ from eager in the last bits (a fused batch-norm), so
    the comparison with eager follows the shared tolerance instead of exactness. `level`: the
    `optlevel` from which the pass runs.
    """

    changes_arithmetic: ClassVar[bool] = False
    level: ClassVar[int] = 1

    @property
    def name(self) -> str:
        return type(self).__name__

    @abstractmethod
    def run(self, graph: Graph) -> int:
        """Rewrite the graph and return how many places changed."""

    def __call__(self, graph: Graph) -> int:
        changed = self.run(graph)
        if changed:
            graph.check()
        return changed


def run_passes(passes: Iterable[Pass], graph: Graph, optlevel: int) -> list[Pass]:
    """Run the passes of this level in order, and return those that changed something."""
    return [one for one in passes if one.level <= optlevel and one(graph)]
