"""Which function lowers which PyTorch-level operator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from converter.ir import Operator
from converter.rules import of_function

if TYPE_CHECKING:
    from converter.ncnn.blob import Blob
    from converter.ncnn.op import Op

Lower = Callable[["Op"], "Blob | Sequence[Blob]"]
BatchAxis = Callable[[Operator], int | None]


class Rule(NamedTuple):
    """How one type of operator is lowered. `name` is what `rules.recorded` calls it.

    `batch` tells the axis that the operator wants as the batch, for its first input and for
    whatever else has that input's rank.
    """

    lower: Lower
    batch: BatchAxis | None
    dtypes: Dtypes
    name: str


Dtypes = Literal["floats", "moved", "checked"]
"""What an operator takes: floats; anything, which it only moves, if it is all of one kind; or what
its function checks itself. ncnn's layers compute in floats, whatever bits a blob holds."""

RULES: dict[str, Rule] = {}


def ncnn(
    *types: str, batch: BatchAxis | None = None, dtypes: Dtypes = "floats"
) -> Callable[[Lower], Lower]:
    """Register a function that lowers these types of operators. It returns a blob per output."""

    def register(lower: Lower) -> Lower:
        for type in types:
            assert type not in RULES, f"{type} is lowered twice"
            RULES[type] = Rule(lower, batch, dtypes, of_function(lower, type, __name__))
        return lower

    return register


def images(spatial: int) -> BatchAxis:
    """The batch axis of images: the first, where there are two dims besides the spatial ones."""

    def batch(op: Operator) -> int | None:
        shape = op.inputs[0].shape
        return 0 if shape is not None and len(shape) == spatial + 2 else None

    return batch
