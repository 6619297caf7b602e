"""What every pass is: one rewriting of the graph, checked before and after."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

from converter.ir import Graph
from converter.rules import caller, named, went_through


class Pass(ABC):
    """One rewriting. A subclass says in its docstring what a graph looks like before and after.

    `changes_arithmetic`: results may differ from eager in the last bits (a fused batch-norm), so
    the comparison with eager follows the shared tolerance instead of exactness.
    """

    changes_arithmetic: ClassVar[bool] = False
    _place: str
    """The module that made it."""

    def __new__(cls, *args: Any, **others: Any) -> Self:
        made = super().__new__(cls)
        made._place = caller(__name__)
        return made

    @property
    def name(self) -> str:
        return type(self).__name__

    @property
    def rule(self) -> str:
        """What `rules.recorded` calls it: by its class, or by its row where a table has several."""
        is_row = self.name != type(self).__name__
        return named(self._place if is_row else type(self).__module__, self.name)

    @abstractmethod
    def run(self, graph: Graph) -> int:
        """Rewrite the graph and return how many places changed."""

    def __call__(self, graph: Graph) -> int:
        changed = self.run(graph)
        if changed:
            went_through(self.rule)
            graph.check()
        return changed
