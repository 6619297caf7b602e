"""Two collections that a graph is edited with: every edit takes the same time, however many others
there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Generic, TypeVar

T = TypeVar("T")


class Order(Generic[T]):
    """Things in a row, each once: one is put before another, or taken out."""

    def __init__(self) -> None:
        self._before: dict[T | None, T | None] = {None: None}
        self._after: dict[T | None, T | None] = {None: None}
        self._listed: list[T] | None = []

    def insert(self, one: T, before: T | None = None) -> None:
        """Put one before another, or at the end."""
        if one in self._after:
            raise ValueError(f"{one!r} is there already")
        previous = self._before[before]
        self._after[previous] = self._before[before] = one
        self._before[one], self._after[one] = previous, before
        if before is not None:
            self._listed = None
        elif self._listed is not None:
            self._listed.append(one)

    def remove(self, one: T) -> None:
        """Take one out. Raises KeyError if it is not there."""
        previous, following = self._before.pop(one), self._after.pop(one)
        self._after[previous], self._before[following] = following, previous
        self._listed = None

    def all(self) -> Sequence[T]:
        """All of them, listed anew only after an edit; not changed by later ones but at its end."""
        if self._listed is None:
            self._listed = []
            one = self._after[None]
            while one is not None:
                self._listed.append(one)
                one = self._after[one]
        return self._listed


class Readers(Generic[T]):
    """Who reads an operand, and at which place among its inputs: once for each place."""

    __slots__ = ("_places",)

    def __init__(self) -> None:
        self._places: dict[tuple[T, int], T] = {}

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[T]:
        return iter(self._places.values())

    def __getitem__(self, number: int) -> T:
        return list(self._places.values())[number]

    def add(self, reader: T, place: int) -> None:
        self._places[reader, place] = reader

    def remove(self, reader: T, place: int) -> None:
        del self._places[reader, place]

    def places(self) -> list[tuple[T, int]]:
        """The readers, each with the place at which it reads."""
        return list(self._places)
