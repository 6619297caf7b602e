"""Numbers that stand for dims that are not known, so that layouts can be compared all the same."""

from __future__ import annotations

import math
from collections.abc import Sequence

from converter.dims import of
from converter.ir import Dim, Operand, Shape

PRIMES = (
    9523843951405948793,
    17797172410793473961,
    11237641016358956929,
    11395541944195714589,
    17374178205299120339,
    10039658952310757797,
    11186123635170541661,
    16667848380713045927,
)
"""One for each symbol, far from each other and beyond any size that a tensor can have."""


class StandIns:
    """Shapes with a large prime in the place of each symbol.

    What is equal for these is equal for every size: the numbers are polynomials of the symbols with
    small coefficients, and no two that differ agree at such a place. A part of a dim that is no sum
    and no product, such as `s0//2`, counts as a symbol. No number is divisible by accident.
    """

    def __init__(self) -> None:
        self._primes: dict[str, int] = {}
        self._dims: dict[int, Dim] = {}

    def shape(self, operand: Operand) -> tuple[int, ...] | None:
        """The shape of an operand, None where it is not known or may have no elements."""
        sizes = [self._size(dim) for dim in operand.shape or ()]
        known = tuple(size for size in sizes if size is not None and size > 0)
        return known if operand.shape is not None and len(known) == len(sizes) else None

    def dims(self, shape: Sequence[int]) -> Shape | None:
        """The dims that these numbers stand for; None where that is another than an operand has."""
        dims = tuple(self._dims[size] for size in shape if size in self._dims)
        return dims if len(dims) == len(shape) else None

    def _size(self, dim: Dim) -> int | None:
        try:
            terms = of(dim)
        except ValueError:
            return None
        for name in sorted({name for names in terms for name in names} - self._primes.keys()):
            if len(self._primes) == len(PRIMES):
                return None
            self._primes[name] = PRIMES[len(self._primes)]
        size = sum(
            count * math.prod(self._primes[name] for name in names)
            for names, count in terms.items()
        )
        self._dims[size] = dim
        return size
