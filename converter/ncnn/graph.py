"""An ncnn network: layers as operators of a `Graph`, with its inputs and outputs in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from converter.ir import Array, ArrayData, Attribute, Graph, Operand, Shape, TensorData

FLOATS = (None, "f32", "f16", "bf16", "f64")
INTEGERS = ("i8", "i16", "i32", "i64", "u8")
"""The dtypes of tensors that may be blobs: in single precision or less, and as 32-bit integers."""


@dataclass(frozen=True)
class Literal:
    """What a model returns that is no tensor: Python that makes it. ncnn has no blob of it."""

    text: str


Nest = int | Literal | tuple["Nest", ...]
"""What the program returns: numbers of outputs, in the tuples that it returned them in."""


@dataclass
class Port:
    """An input or output of the network, and the tensor that it stands for.

    `batch` is the axis of the tensor that the blob keeps as its batch, or None: ncnn holds up to
    four dimensions, and the batch beside them. With `indices` the blob holds 32-bit integers.
    """

    operand: Operand
    shape: Shape
    dtype: str | None
    batch: int | None
    indices: bool = False


@dataclass
class NcnnGraph:
    """Operators of `layers` have the types, parameter and weight names of `converter.ncnn.layers`.

    Once lowered, every blob is read once, outputs are read by nothing and are not inputs.
    """

    layers: Graph = field(default_factory=Graph)
    inputs: list[Port] = field(default_factory=list)
    outputs: list[Port] = field(default_factory=list)
    result: Nest = ()


class Computed:
    """A tensor that is made of others when it is asked for, so that few are in memory at a time."""

    def __init__(self, make: Callable[[], Array]) -> None:
        self._make = make

    def chunks(self, limit: int) -> Iterator[memoryview]:
        return ArrayData(self._make()).chunks(limit)

    def array(self) -> Array:
        return self._make()


class Reshaped:
    """Stored values as an array of another shape."""

    def __init__(self, data: TensorData, shape: tuple[int, ...]) -> None:
        self._data = data
        self._shape = shape

    def chunks(self, limit: int) -> Iterator[memoryview]:
        return self._data.chunks(limit)

    def array(self) -> Array:
        return self._data.array().reshape(self._shape)


def reshaped(attr: Attribute, shape: tuple[int, ...]) -> Attribute:
    """The same values, row-major, as another shape."""
    return attr if attr.shape == shape else Attribute(attr.dtype, shape, Reshaped(attr.data, shape))


def computed(shape: tuple[int, ...], make: Callable[[], Array], dtype: str = "f32") -> Attribute:
    """An attribute whose values `make` returns, as an array of that shape and dtype."""
    return Attribute(dtype, shape, Computed(make))
