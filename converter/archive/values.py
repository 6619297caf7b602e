"""The values that an exported program's arguments and results take, as plain Python."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from converter.archive.program import Body


class TensorRef(msgspec.Struct, frozen=True):
    """A tensor that another node, or an input of the graph, produces."""

    name: str


class SymRef(msgspec.Struct, frozen=True):
    """A symbolic int, float or bool that another node or an input produces (`Body.symbols`)."""

    name: str


class GraphRef(msgspec.Struct, frozen=True):
    """A sub-graph that a higher-order operator runs (`cond`, `wrap_with_set_grad_enabled`)."""

    name: str
    body: Body


class CustomRef(msgspec.Struct, frozen=True):
    """An object of a custom class."""

    name: str
    class_name: str


class OperatorRef(msgspec.Struct, frozen=True):
    """An operator that is passed as an argument: its target (`torch.ops.aten.add.Tensor`)."""

    target: str


class Device(msgspec.Struct, frozen=True):
    """`cpu`, `cuda:1`."""

    type: str
    index: int | None = None

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"


class ScalarType(str):
    """A dtype, by pnnx's name (`f32`); to be told from text."""

    __slots__ = ()


class MemoryFormat(StrEnum):
    """`torch.contiguous_format` and so on, by PyTorch's names."""

    contiguous_format = "contiguous_format"
    channels_last = "channels_last"
    channels_last_3d = "channels_last_3d"
    preserve_format = "preserve_format"


class Layout(StrEnum):
    """`torch.strided` and so on, by PyTorch's names."""

    sparse_coo = "sparse_coo"
    sparse_csr = "sparse_csr"
    sparse_csc = "sparse_csc"
    sparse_bsr = "sparse_bsr"
    sparse_bsc = "sparse_bsc"
    mkldnn = "_mkldnn"
    strided = "strided"


Value = (
    None
    | bool
    | int
    | float
    | complex
    | str
    | Device
    | MemoryFormat
    | Layout
    | TensorRef
    | SymRef
    | GraphRef
    | CustomRef
    | OperatorRef
    | tuple["Value", ...]
    | dict[str, "Value"]
)
"""One argument or result. A dtype is a ScalarType, which is a string; lists are tuples."""
