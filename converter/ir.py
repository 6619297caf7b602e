"""The graph that the converter works on: operators, operands and attributes, as pnnx defines them.

The same three classes serve every level: freshly read ATen operators (`aten.conv2d.default`),
PyTorch-level operators (`F.conv2d`, `nn.Conv2d`, `pnnx.Expression`) and ncnn layers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from converter.errors import Where
from converter.order import Order, Readers

Array = NDArray[Any]

Scalar = None | bool | int | float | complex | str
Param = Scalar | tuple["Param", ...]
Dim = int | str
"""A dimension: its size, or a symbolic expression over the program's symbols (`2*s0+1`)."""
Shape = tuple[Dim, ...]

DTYPES: Mapping[str, np.dtype[np.generic]] = {
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "i8": np.dtype(np.int8),
    "i16": np.dtype(np.int16),
    "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64),
    "u8": np.dtype(np.uint8),
    "bool": np.dtype(np.bool_),
    "c64": np.dtype(np.complex64),
    "c128": np.dtype(np.complex128),
}
"""pnnx's dtype names and their NumPy types."""

DTYPE_NAMES: Mapping[np.dtype[np.generic], str] = {dtype: name for name, dtype in DTYPES.items()}


class TensorData(Protocol):
    """The values of a stored tensor, row-major and contiguous, read only when asked for."""

    def chunks(self, limit: int) -> Iterator[memoryview]:
        """Yield the bytes in order, at most `limit` at a time; a chunk is valid until the next."""
        ...

    def array(self) -> Array:
        """Return the whole tensor (not to be written to)."""
        ...


class ArrayData:
    """A tensor that is in memory already."""

    def __init__(self, values: Array) -> None:
        self._values = np.ascontiguousarray(values).reshape(values.shape)

    def chunks(self, limit: int) -> Iterator[memoryview]:
        data = self._values.reshape(-1).view(np.uint8).data
        for start in range(0, len(data), limit):
            yield data[start : start + limit]

    def array(self) -> Array:
        return self._values


class LazyData:
    """A tensor that is worked out whenever it is read, so that memory holds one at a time.

    `work` is how many bytes are made and read for that, those of other such tensors among them.
    """

    def __init__(self, values: Callable[[], Array], work: int = 0) -> None:
        self._values = values
        self.work = work

    def chunks(self, limit: int) -> Iterator[memoryview]:
        return ArrayData(self.array()).chunks(limit)

    def array(self) -> Array:
        return self._values()


WORK, STEP = 16, 1 << 16
"""How many times its own bytes a tensor may take to be worked out whenever it is read, and how many
bytes one counts at least: what is made of others that are made of others would take ever longer.
"""

SIZE_LIMIT = 1 << 60
"""Bytes of a tensor, so that no size overflows 64 bits."""


def is_possible(shape: Sequence[int], itemsize: int) -> bool:
    """Whether a tensor of elements of `itemsize` bytes can have that shape."""
    return math.prod(max(size, 1) for size in shape) * itemsize <= SIZE_LIMIT


class Attribute:
    """A stored tensor of an operator: a weight, a bias, a constant.

    `dtype` is pnnx's name (`f32`), `shape` a tuple of ints, `data` the lazily read values.
    `frozen`: it takes no gradient, as buffers, constants and frozen parameters do. PyTorch chooses
    kernels by it, which round differently, even where no gradient is asked for.
    """

    __slots__ = ("data", "dtype", "frozen", "shape")

    def __init__(
        self, dtype: str, shape: tuple[int, ...], data: TensorData, frozen: bool = False
    ) -> None:
        self.dtype = dtype
        self.shape = shape
        self.data = data
        self.frozen = frozen

    @classmethod
    def of(cls, values: Array, frozen: bool = False) -> Attribute:
        """Make an attribute of an array in memory. Raises KeyError for a dtype that pnnx lacks."""
        return cls(DTYPE_NAMES[values.dtype], tuple(values.shape), ArrayData(values), frozen)

    @property
    def size(self) -> int:
        """The number of elements."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def nbytes(self) -> int:
        return self.size * DTYPES[self.dtype].itemsize

    @classmethod
    def later(
        cls,
        dtype: str,
        shape: tuple[int, ...],
        values: Callable[[], Array],
        sources: Iterable[Attribute],
        frozen: bool = False,
    ) -> Attribute:
        """Make an attribute whose values are worked out of others whenever they are read."""
        data = LazyData(values)
        made = cls(dtype, shape, data, frozen)
        data.work = STEP + made.nbytes + sum(one.work for one in dict.fromkeys(sources))
        return made

    @property
    def work(self) -> int:
        """How many bytes are read and made to work its values out."""
        return max(self.data.work if isinstance(self.data, LazyData) else 0, self.nbytes)

    @property
    def is_quick(self) -> bool:
        """Whether it may be worked out whenever it is read."""
        return self.work <= WORK * max(self.nbytes, STEP)

    def array(self) -> Array:
        """Return the values as an array of `shape`. Do not write to it."""
        return self.data.array()

    def is_full(self, number: float) -> bool:
        """Whether all elements are that number. Reads no further than to the first other one."""
        dtype, rest = DTYPES[self.dtype], b""
        for chunk in self.data.chunks(1 << 20):
            content = rest + bytes(chunk)
            whole = len(content) - len(content) % dtype.itemsize
            if not np.all(np.frombuffer(content[:whole], dtype) == number):
                return False
            rest = content[whole:]
        return True


class Operand:
    """A value that flows between operators. `shape` and `dtype` are None where they are unknown.

    `row_major`: as far as is known, its elements lie in the order of its dims, in the program that
    the graph was made from.
    """

    __slots__ = ("consumers", "dtype", "name", "producer", "row_major", "shape")

    def __init__(self, name: str, shape: Shape | None = None, dtype: str | None = None) -> None:
        self.name = name
        self.shape = shape
        self.dtype = dtype
        self.row_major = True
        self.producer: Operator | None = None
        self.consumers: Readers[Operator] = Readers()

    @property
    def stored(self) -> Attribute | None:
        """The tensor that it holds where the model stores it, the same in every run; else None."""
        if self.producer is None or self.producer.type != "pnnx.Attribute":
            return None
        return self.producer.attrs["data"]

    @property
    def is_number(self) -> bool:
        """Whether it is a number, or a list of them, that the model works out as it runs."""
        made = self.producer is not None and self.producer.type == "pnnx.Expression"
        return made and self.shape is None and self.dtype is None

    def __repr__(self) -> str:
        return f"%{self.name}"


class Operator:
    """One node. `input_names` gives each input its argument name, or is empty if none has one.

    `params` are the non-tensor arguments, `attrs` the stored tensors, `where` the user's source
    line. `module` is the name and class of the innermost nn.Module that made the operator, `origin`
    the ATen function of which a decomposition left it.
    `opaque`: the user asked to keep it, and what it computes is not known here.
    """

    __slots__ = (
        "attrs",
        "input_names",
        "inputs",
        "module",
        "name",
        "opaque",
        "origin",
        "outputs",
        "params",
        "type",
        "where",
    )

    def __init__(self, type: str, name: str) -> None:
        self.type = type
        self.name = name
        self.inputs: list[Operand] = []
        self.input_names: list[str] = []
        self.outputs: list[Operand] = []
        self.params: dict[str, Param] = {}
        self.attrs: dict[str, Attribute] = {}
        self.where: Where | None = None
        self.module: tuple[str, str] | None = None
        self.opaque = False
        self.origin: str | None = None

    def input(self, name: str) -> Operand:
        """Return the input of that argument name. Raises KeyError."""
        try:
            return self.inputs[self.input_names.index(name)]
        except ValueError:
            raise KeyError(f"{self.type} {self.name} has no input {name!r}") from None

    def has_input(self, name: str) -> bool:
        return name in self.input_names

    def __repr__(self) -> str:
        ins = ", ".join(map(repr, self.inputs))
        outs = ", ".join(map(repr, self.outputs))
        return f"{outs} = {self.type}[{self.name}]({ins}) {self.params}"


class Graph:
    """Operators in topological order, and the operands between them.

    Every edit goes through the methods below, which keep `producer` and `consumers` true. A
    consumer that reads an operand twice stands in `consumers` twice.

    `sizes` are examples of the symbols that its dims hold: inputs are drawn with them. `notes` tell
    the user what the graph does not do.
    """

    def __init__(self, sizes: Mapping[str, int] | None = None) -> None:
        self.sizes = dict(sizes or {})
        self.notes: list[str] = []
        self.operands: dict[str, Operand] = {}
        self._order: Order[Operator] = Order()
        self._serial = 0

    # --- making

    def operand(self, name: str, shape: Shape | None = None, dtype: str | None = None) -> Operand:
        """Add an operand with a name of its own. Raises ValueError if the name is taken."""
        if name in self.operands:
            raise ValueError(f"operand {name!r} exists already")
        made = self.operands[name] = Operand(name, shape, dtype)
        return made

    def fresh(self, stem: str, shape: Shape | None = None, dtype: str | None = None) -> Operand:
        """Add an operand whose name starts with `stem` and is not taken."""
        name = stem
        while name in self.operands:
            self._serial += 1
            name = f"{stem}_{self._serial}"
        return self.operand(name, shape, dtype)

    def add(
        self,
        type: str,
        name: str,
        inputs: Sequence[Operand] = (),
        outputs: Sequence[Operand] = (),
        *,
        input_names: Sequence[str] = (),
        params: Mapping[str, Param] | None = None,
        attrs: Mapping[str, Attribute] | None = None,
        before: Operator | None = None,
    ) -> Operator:
        """Append an operator (or insert it before another) and connect it."""
        op = Operator(type, name)
        op.inputs = list(inputs)
        op.input_names = list(input_names)
        op.outputs = list(outputs)
        op.params = dict(params or {})
        op.attrs = dict(attrs or {})
        for place, operand in enumerate(op.inputs):
            operand.consumers.add(op, place)
        for operand in op.outputs:
            operand.producer = op
        self._order.insert(op, before)
        if before is not None:
            op.where, op.module = before.where, before.module
        return op

    # --- editing

    def set_inputs(
        self, op: Operator, inputs: Sequence[Operand], input_names: Sequence[str] = ()
    ) -> None:
        """Give an operator other inputs."""
        for place, operand in enumerate(op.inputs):
            operand.consumers.remove(op, place)
        op.inputs = list(inputs)
        op.input_names = list(input_names)
        for place, operand in enumerate(op.inputs):
            operand.consumers.add(op, place)

    def replace_input(self, op: Operator, place: int, new: Operand) -> None:
        """Make an operator read another operand at one place."""
        op.inputs[place].consumers.remove(op, place)
        op.inputs[place] = new
        new.consumers.add(op, place)

    def replace_uses(self, old: Operand, new: Operand) -> None:
        """Make every consumer of `old` read `new` instead."""
        for op, place in old.consumers.places():
            self.replace_input(op, place, new)

    def remove(self, op: Operator) -> None:
        """Remove an operator and those of its outputs that it still produces.

        Raises ValueError if one of them is still read.
        """
        for operand in op.outputs:
            if operand.producer is op and operand.consumers:
                raise ValueError(f"cannot remove {op.type} {op.name}: {operand} is still read")
        self.remove_all([op])

    def remove_all(self, ops: Iterable[Operator]) -> None:
        """Remove many operators; what they produce may be read only among them."""
        for op in ops:
            self._order.remove(op)
            for place, operand in enumerate(op.inputs):
                operand.consumers.remove(op, place)
            for operand in op.outputs:
                if operand.producer is op:
                    operand.producer = None
                    del self.operands[operand.name]

    # --- asking

    @property
    def operators(self) -> Sequence[Operator]:
        """All of them, in order; edits do not disturb who goes through them."""
        return self._order.all()

    def of_type(self, *types: str) -> list[Operator]:
        """List the operators of these types, in order: a copy, so that the graph may be edited."""
        return [op for op in self.operators if op.type in types]

    def check(self) -> None:
        """Assert the graph's own rules: order, producers, consumers. Raises AssertionError."""
        seen: set[Operand] = set()
        reads: dict[Operand, int] = {}
        for op in self.operators:
            assert not op.input_names or len(op.input_names) == len(op.inputs), f"{op!r}: names"
            for operand in op.inputs:
                assert operand in seen, f"{op!r} reads {operand} before it is produced"
                reads[operand] = reads.get(operand, 0) + 1
            for operand in op.outputs:
                assert operand.producer is op, f"{operand}: not the producer that {op!r} says"
                assert self.operands.get(operand.name) is operand, f"{operand} is not in the graph"
                seen.add(operand)
        for operand in self.operands.values():
            assert operand in seen, f"{operand} has no producer in the graph"
            assert len(operand.consumers) == reads.get(operand, 0), f"{operand}: wrong consumers"
