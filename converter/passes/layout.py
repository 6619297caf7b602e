"""Where the elements of a tensor lie in another that it was reshaped, permuted or sliced from.

A layout lists `atoms`, pairs of a size and a stride, from the slowest to the fastest: the element
number i of the tensor, in its own row-major order, lies where the atoms lead. `x.transpose(0, 1)`
of a (2, 3) tensor has the atoms (3, 1) and (2, 3). Atoms of size 1 are left out, and atoms that
follow each other in memory are one, so that equal layouts are equal values however they were made.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

Atom = tuple[int, int]


class LayoutError(Exception):
    """What is asked of a layout does not fit its shape, or a dim of it ends within an atom."""


class Layout(NamedTuple):
    """The shape of a tensor, and the place of each of its elements in another's memory."""

    shape: tuple[int, ...]
    atoms: tuple[Atom, ...]
    offset: int = 0

    def reshape(self, shape: Sequence[int]) -> Layout:
        """The same elements in another shape. Raises LayoutError."""
        if math.prod(shape) != math.prod(self.shape):
            raise LayoutError
        return Layout(tuple(shape), self.atoms, self.offset)

    def permute(self, order: Sequence[int]) -> Layout:
        """Dims in another order. Raises LayoutError."""
        groups = self.groups()
        shape = tuple(self.shape[dim] for dim in order)
        return make(shape, [atom for dim in order for atom in groups[dim]], self.offset)

    def select(self, dim: int, index: int) -> Layout:
        """One index of a dim, which then is gone. Raises LayoutError."""
        groups = self.groups()
        offset = self.offset
        for size, stride in reversed(groups[dim]):
            offset += index % size * stride
            index //= size
        groups[dim] = []
        shape = self.shape[:dim] + self.shape[dim + 1 :]
        return make(shape, [atom for group in groups for atom in group], offset)

    def narrow(self, dim: int, start: int, length: int) -> Layout:
        """A range of a dim. Raises LayoutError, also where several atoms make up the dim."""
        groups = self.groups()
        if len(groups[dim]) > 1:
            raise LayoutError
        stride = groups[dim][0][1] if groups[dim] else 0
        groups[dim] = [(length, stride)]
        shape = (*self.shape[:dim], length, *self.shape[dim + 1 :])
        atoms = [atom for group in groups for atom in group]
        return make(shape, atoms, self.offset + start * stride)

    def expand(self, shape: Sequence[int]) -> Layout:
        """Dims of size 1 repeated, and new ones in front. Raises LayoutError."""
        groups = self.groups()
        new = len(shape) - len(self.shape)
        before = (*(1,) * new, *self.shape)
        groups = [*([] for _ in range(new)), *groups]
        for dim, (old, size) in enumerate(zip(before, shape, strict=True)):
            if old != size:
                if old != 1:
                    raise LayoutError
                groups[dim] = [(size, 0)]
        return make(tuple(shape), [atom for group in groups for atom in group], self.offset)

    def groups(self) -> list[list[Atom]]:
        """The atoms of each dim, split where needed. Raises LayoutError."""
        rest = list(self.atoms)
        groups: list[list[Atom]] = []
        for size in reversed(self.shape):
            group: list[Atom] = []
            while size > 1:
                count, stride = rest.pop()
                if size % count == 0:
                    size //= count
                elif count % size == 0:
                    rest.append((count // size, stride * size))
                    count, size = size, 1
                else:
                    raise LayoutError
                group.insert(0, (count, stride))
            groups.insert(0, group)
        return groups


def contiguous(shape: Sequence[int]) -> Layout:
    """The layout of a tensor in its own memory."""
    return make(tuple(shape), [(math.prod(shape), 1)], 0)


def make(shape: tuple[int, ...], atoms: Iterable[Atom], offset: int) -> Layout:
    """A layout with its atoms joined."""
    joined: list[Atom] = []
    for size, stride in atoms:
        if size == 1:
            continue
        if joined and joined[-1][1] == size * stride:
            joined[-1] = (joined[-1][0] * size, stride)
        else:
            joined.append((size, stride))
    return Layout(shape, tuple(joined), offset)
