"""The names of tensors that nodes make and read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from converter.archive.program import Body, Output
from converter.archive.values import TensorRef, Value


def tensor_names(outputs: tuple[Value, ...]) -> Iterator[str]:
    """The tensors among a node's results, lists opened."""
    for value in outputs:
        if isinstance(value, TensorRef):
            yield value.name
        elif isinstance(value, tuple):
            yield from tensor_names(value)


def last_uses(body: Body, outputs: Sequence[Output]) -> dict[str, int]:
    """The index of the last node that reads each name; graph outputs are read after all of them."""
    last: dict[str, int] = {}

    def read(value: Value, index: int) -> None:
        if isinstance(value, TensorRef):
            last[value.name] = index
        elif isinstance(value, tuple):
            for item in value:
                read(item, index)

    for index, node in enumerate(body.nodes):
        for _, value in node.inputs:
            read(value, index)
    for output in outputs:
        read(output.value, len(body.nodes))
    return last
