"""One PyTorch-level operator while it is lowered: what its function reads and makes layers with."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from converter.errors import UnsupportedError
from converter.ir import Array, Attribute, Dim, Operand, Operator, Param, Shape
from converter.ncnn.blob import MAX_RANK, Blob
from converter.ncnn.graph import computed
from converter.ncnn.layers import LayerCall
from converter.ncnn.sizes import Sizes, numbers_of
from converter.passes.formula import parse

if TYPE_CHECKING:
    from converter.ncnn.lower import Lowering


CONSTANT_LIMIT, CONSTANTS_LIMIT = 1 << 27, 1 << 29
"""Bytes of a tensor that the network must store and the model does not, and of all of these."""

FIX = "give inputshape= and no inputshape2="
"""What to do where ncnn needs a size that is dynamic."""

BEFORE = "convert the program as it was before run_decompositions()"
"""What to try where an operator is left of a function that ncnn may have."""


class Op:
    """Reads an operator's arguments as the types they should have, else refuses the operator."""

    def __init__(self, operator: Operator, lowering: Lowering) -> None:
        self.operator = operator
        self.type = operator.type
        self.params = operator.params
        self.attrs = operator.attrs
        self._lowering = lowering
        named = zip(
            operator.input_names or [""] * len(operator.inputs), operator.inputs, strict=True
        )
        tensors = [(name, operand) for name, operand in named if not operand.is_number]
        self.names = [name for name, _ in tensors]
        self.inputs = [operand for _, operand in tensors]
        self.read: set[Operand] = set()
        """The inputs that were asked for."""

    def of(self, operator: Operator) -> Op:
        """Another operator of the graph, which was lowered before, to be lowered in another way."""
        return Op(operator, self._lowering)

    # --- refusing

    def refuse(self, why: str, mend: str = "") -> NoReturn:
        """Raise UnsupportedError, with the operator and its source line."""
        if self.operator.origin is not None:
            mend = f"{mend}, or " * bool(mend) + BEFORE
        raise UnsupportedError(
            f"ncnn: {self.type} {self.operator.name}: {why}", where=self.operator.where, mend=mend
        )

    # --- params

    def param(self, name: str, default: Param = None) -> Param:
        """A param, refused if it is a number that dynamic sizes decide."""
        if self.operator.has_input(name) and self.operator.input(name).is_number:
            self.refuse(f"{name} depends on dynamic sizes", FIX)
        return self.params.get(name, default)

    def integer(self, name: str, default: int | None = None) -> int:
        value = self.param(name, default)
        if type(value) is not int:
            self.refuse(f"{name} is {value!r}, not an int")
        return value

    def flag(self, name: str, default: bool = False) -> bool:
        value = self.params.get(name, default)
        if not isinstance(value, bool):
            self.refuse(f"{name} is {value!r}, not a bool")
        return value

    def number(self, name: str, default: float | None = None) -> float:
        value = self.param(name, default)
        if not isinstance(value, int | float):
            self.refuse(f"{name} is {value!r}, not a number")
        return float(value)

    def text(self, name: str, default: str | None = None) -> str:
        value = self.params.get(name, default)
        if not isinstance(value, str):
            self.refuse(f"{name} is {value!r}, not a string")
        return value

    def integers(self, name: str, count: int | None = None) -> tuple[int, ...]:
        """A tuple of ints; with `count`, that many, where one int stands for all of them."""
        value = self.param(name)
        if type(value) is int:
            value = (value,)
        if not isinstance(value, tuple):
            self.refuse(f"{name} is {value!r}, not a tuple of ints")
        sizes = tuple(item for item in value if type(item) is int)
        if len(sizes) != len(value):
            self.refuse(f"{name} is {value!r}, not a tuple of ints")
        if count is not None and len(sizes) == 1:
            sizes *= count
        if count is not None and len(sizes) != count:
            self.refuse(f"{name} has {len(sizes)} values, not {count}")
        return sizes

    def dim(self, rank: int, name: str = "dim", default: int | None = None) -> int:
        """An axis of a tensor of that rank, as a non-negative int."""
        return self.wrap(self.integer(name, default), rank)

    def dims(self, rank: int, name: str = "dim") -> tuple[int, ...]:
        """Axes, non-negative and in order; all of them where the param is missing or None.

        A tensor without dims has none, though PyTorch lets one name 0 or -1.
        """
        if self.params.get(name) in (None, ()) or not rank:
            return tuple(range(rank))
        return tuple(sorted(self.wrap(dim, rank) for dim in self.integers(name)))

    def wrap(self, dim: int, rank: int) -> int:
        if not -rank <= dim < rank:
            self.refuse(f"dim {dim} of a tensor of rank {rank}")
        return dim % rank

    # --- sizes

    def extent(self, name: str, default: int | None = None) -> Dim:
        """A param that is an int, or follows from sizes."""
        if not self.operator.has_input(name):
            return self.integer(name, default)
        (dim,) = self.extents(name)
        return dim

    def extents(self, name: str) -> Shape:
        """A param that is a tuple of ints, some of which may follow from sizes."""
        if not self.operator.has_input(name):
            return self.integers(name)
        made = self.operator.input(name).producer
        if made is None or made.type != "pnnx.Expression":
            self.refuse(f"{name} is a tensor")
        return numbers_of(parse(made), made.inputs)

    def expressions(self, blob: Blob, *, whole: bool = False) -> Sizes:
        """What writes sizes for a layer that reads a blob, and inputs of the network if it must.

        `whole`: those are read without a batch. ncnn runs a layer for each item of a batch, of
        which all that it reads must have as many.
        """
        others = self._lowering.inputs
        return Sizes(blob, [self.lay(one, None) for one in others] if whole else others)

    def expect(self, name: str, *values: Param) -> None:
        """Refuse a param that is there and is none of the values that ncnn can express."""
        if name in self.params and self.params[name] not in values:
            self.refuse(f"{name}={self.params[name]} is not expressible in ncnn")

    def attr(self, name: str) -> Attribute:
        if name not in self.attrs:
            self.refuse(f"the weight {name} is missing")
        return self.attrs[name]

    # --- inputs

    @property
    def count(self) -> int:
        """How many inputs there are; numbers that sizes decide are none."""
        return len(self.inputs)

    def blob(self, index: int = 0) -> Blob:
        """An input as it lies."""
        self.read.add(self.inputs[index])
        return self._lowering.blob(self, self.inputs[index])

    def argument(self, name: str, index: int) -> Blob | None:
        """The input of that argument name, or, where inputs have no names, at that place."""
        if name in self.names:
            return self.blob(self.names.index(name))
        unnamed = index < self.count and not self.names[index]
        return self.blob(index) if unnamed else None

    def need(self, name: str, index: int) -> Blob:
        """An input that must be there."""
        blob = self.argument(name, index)
        if blob is None:
            self.refuse(f"the input {name} is missing")
        return blob

    def images(self, spatial: int, index: int = 0) -> Blob:
        """An input as channels and `spatial` dims, the batch aside if there is one."""
        blob = self.blob(index)
        if blob.rank not in (spatial + 1, spatial + 2):
            self.refuse(f"a tensor of rank {blob.rank} has not {spatial} spatial dims")
        return self.lay(blob, 0 if blob.rank == spatial + 2 else None)

    def sizes(self, blob: Blob) -> tuple[int, ...]:
        """The tensor's shape, where it is known."""
        return self.known(blob.shape)

    def size(self, blob: Blob, dim: int) -> int:
        """The size of one dim."""
        return self.known(blob.shape[dim : dim + 1])[0]

    def known(self, shape: Shape) -> tuple[int, ...]:
        """The shape, refused if a dim is dynamic."""
        sizes = tuple(dim for dim in shape if isinstance(dim, int))
        if len(sizes) != len(shape):
            self.refuse(
                f"needs fixed sizes, and gets ({', '.join(map(str, shape))})",
                FIX,
            )
        return sizes

    @property
    def output(self) -> Operand:
        return self.outputs[0]

    @property
    def outputs(self) -> list[Operand]:
        return self.operator.outputs

    def shape(self, index: int = 0) -> Shape:
        """The shape of an output."""
        shape = self.outputs[index].shape
        if shape is None:
            self.refuse("the shape of its output is unknown", "give inputshape=")
        return shape

    @property
    def wanted(self) -> int | None:
        """The batch axis that the readers of the output want."""
        return self.wanted_of(self.output)

    def wanted_of(self, operand: Operand) -> int | None:
        """The batch axis that the operators around a tensor want."""
        return self._lowering.wanted.get(operand)

    def values(self, blob: Blob) -> list[Blob]:
        """The outputs of an operator of which ncnn has only the first: values, no indices."""
        others = self.outputs[1:]
        if any(other.consumers for other in others):
            self.refuse("ncnn has its first output only", "do not use the others")
        return [blob] * (1 + len(others))

    # --- layouts

    def lay(self, blob: Blob, batch: int | None) -> Blob:
        """The tensor with that axis as its batch, or none."""
        return self._lowering.view(self, blob, blob.shape, batch)

    def free(self, blob: Blob, *dims: int) -> Blob:
        """The tensor with none of these dims as its batch: as it lies, whole, or with another."""
        if blob.batch not in dims:
            return blob
        if blob.rank <= MAX_RANK:
            return self.lay(blob, None)
        others = [axis for axis in range(blob.rank) if axis not in dims]
        if not others:
            self.refuse(f"mixes all {blob.rank} dims, and ncnn holds 4 besides the batch")
        return self.lay(blob, others[0])

    def view(self, blob: Blob, shape: Shape, batch: int | None) -> Blob:
        """The elements in row-major order as another shape, with that axis of it as the batch."""
        return self._lowering.view(self, blob, shape, batch)

    # --- making layers

    def emit(
        self,
        call: LayerCall,
        *inputs: Blob,
        shape: Shape | None = None,
        batch: int | str | None = "same",
    ) -> Blob:
        """Add a layer with one output; return that: of the operator's own shape if none is given,
        with the batch axis of the first input if none is given."""
        axis = inputs[0].batch if isinstance(batch, str) else batch
        return self.emits(call, inputs, [(self.shape() if shape is None else shape, axis)])[0]

    def emits(
        self, call: LayerCall, inputs: Sequence[Blob], outputs: Sequence[tuple[Shape, int | None]]
    ) -> list[Blob]:
        """Add a layer with an output for each shape and batch axis."""
        return self._lowering.emit(self, call, inputs, outputs)

    def constant(self, values: Attribute) -> Blob:
        """A stored tensor as a blob."""
        return self._lowering.constant(values)

    def made(self, shape: Shape, values: Callable[[], Array]) -> Attribute:
        """A tensor of single precision that the model does not store and the network must, worked
        out when it is written.
        """
        sizes = self.known(shape)
        self.check_room(sizes)
        return computed(sizes, lambda: np.asarray(values(), np.float32).reshape(sizes))

    def check_room(self, sizes: Sequence[int]) -> None:
        """Refuse a tensor that would be too large for the network to store, or one too many."""
        size = math.prod(sizes) * 4
        self._lowering.made_bytes += size
        if size > CONSTANT_LIMIT or self._lowering.made_bytes > CONSTANTS_LIMIT:
            self.refuse(
                f"needs a constant of {size} bytes, of which ncnn's file would hold "
                f"{self._lowering.made_bytes}",
                "make the tensor smaller, or pass it as an input",
            )
