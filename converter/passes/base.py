"""What every pass is: one rewriting of the graph, checked before and after."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from converter.ir import Graph


class Pass(ABC):
    """One rewriting. A subclass says in its docstring what a graph looks like before and after.

    `changes_arithmetic`: results may differ from eager in the last bits (a fused batch-norm), so
    the comparison with eager follows the shared tolerance instead of exactness.
    """

    changes_arithmetic: ClassVar[bool] = False

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
