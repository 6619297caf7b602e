"""In-place operators made functional: who may share memory with whom, and which reads see a write.

An in-place call is lowered as its functional twin, and every name of the written tensor then means
the result. That is right as long as no *view* of the same memory is read afterwards: such a program
is refused, with both names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

SELF_RETURNING = frozenset(
    {
        "aten.alpha_dropout.default",
        "aten.dropout.default",
        "aten.feature_alpha_dropout.default",
        "aten.feature_dropout.default",
        "aten.rrelu.default",
        "aten.type_as.default",
    }
)
"""Operators that may return their first argument itself, though their schema does not say so."""


class Aliases:
    """Tracks names that are one tensor (`same`) and names that may be views of it."""

    def __init__(self, last_use: Mapping[str, int]) -> None:
        self._last_use = last_use
        self._same: dict[str, set[str]] = {}
        self._memory: dict[str, set[str]] = {}

    def view(self, result: str, source: str) -> None:
        """`result` may share memory with `source`."""
        self._join(self._memory, result, source)

    def same(self, result: str, source: str) -> None:
        """`result` is `source`, under another name."""
        self._join(self._same, result, source)
        self._join(self._memory, result, source)

    def names(self, name: str) -> Iterable[str]:
        """All names of one tensor, itself included."""
        return self._same.get(name, {name})

    def hidden_read(self, name: str, index: int) -> str | None:
        """Return a view of `name` that is read after node `index`; None if a write is safe."""
        views = self._memory.get(name, {name}) - set(self.names(name))
        return next((v for v in sorted(views) if self._last_use.get(v, -1) > index), None)

    @staticmethod
    def _join(groups: dict[str, set[str]], one: str, other: str) -> None:
        merged = groups.get(one, {one}) | groups.get(other, {other})
        for name in merged:
            groups[name] = merged
