"""An exported program, read and typed: what the rest of the converter works from."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

import msgspec

from converter.archive.values import Value
from converter.archive.zip import ZipFile
from converter.errors import Where
from converter.ir import Attribute, Shape


class ModuleFrame(NamedTuple):
    """An nn.Module that was being called: `layer1.0.conv1`, `torch.nn.modules.conv.Conv2d`.

    `call` tells the calls of one module apart.
    """

    fqn: str
    class_name: str
    call: str = ""


class TensorType(NamedTuple):
    """Of a tensor in a graph: its dims, ints or expressions (`2*s0+1`), and pnnx's dtype name."""

    shape: Shape
    dtype: str


class Node(msgspec.Struct, frozen=True):
    """A call. `inputs` are (argument name, value) as written: defaults are left out (see bind)."""

    target: str
    name: str
    inputs: tuple[tuple[str, Value], ...]
    outputs: tuple[Value, ...]
    where: Where | None
    modules: tuple[ModuleFrame, ...]
    """The stack of nn.Modules, outermost first."""
    keywords: frozenset[str] = frozenset()
    """The arguments that were given by name."""
    origin: str | None = None
    """In a decomposed program: the call that this one was a part of, `aten.dropout.default`."""

    @property
    def module(self) -> ModuleFrame | None:
        """The innermost nn.Module, None where the node has none."""
        return self.modules[-1] if self.modules else None


class Body(msgspec.Struct, frozen=True):
    """A graph: the program's own, or a sub-graph of a higher-order operator.

    `tensors` and `symbols` tell the type of each name that a TensorRef or SymRef of this graph can
    bear; a symbol's is its expression (`s0*4`), or its number where that is known. `strides` are
    those that each tensor had in the export, in elements. `hints` are the sizes of the export by
    symbol (`s0`), where the file tells them.
    """

    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    nodes: tuple[Node, ...]
    tensors: Mapping[str, TensorType]
    symbols: Mapping[str, str | bool | int | float]
    strides: Mapping[str, Shape]
    hints: Mapping[str, int] = msgspec.field(default_factory=dict)


class StoredKind(StrEnum):
    parameter = "parameter"
    buffer = "buffer"
    constant = "constant"


class StoredInput(msgspec.Struct, frozen=True):
    """A graph input that the archive holds the values of.

    `fqn` is its name in the user's model, `layer1.0.conv1.weight`: any text whatever.
    """

    name: str
    kind: StoredKind
    fqn: str
    attribute: Attribute
    persistent: bool = True
    storage: str = ""
    """The entry of the archive that holds it: tensors with the same one share their memory."""
    names: tuple[str, ...] = ()
    """All that the user's model calls this tensor, `fqn` among them."""


class TensorInput(msgspec.Struct, frozen=True):
    """A tensor that the caller passes."""

    name: str
    type: TensorType


class SymInput(msgspec.Struct, frozen=True):
    """An int that the caller passes and that was exported as dynamic; `expr` is its symbol."""

    name: str
    expr: str | bool | int | float


class ConstantInput(msgspec.Struct, frozen=True):
    """A non-tensor that the caller passes, specialized to this value by the export."""

    name: str
    value: bool | int | float | str | None


UserInput = TensorInput | SymInput | ConstantInput


class OutputKind(StrEnum):
    """What becomes of a result. Only `user` leaves the program; the others are side effects."""

    user = "user_output"
    loss = "loss_output"
    buffer_mutation = "buffer_mutation"
    parameter_mutation = "parameter_mutation"
    user_input_mutation = "user_input_mutation"
    gradient_to_parameter = "gradient_to_parameter"
    gradient_to_user_input = "gradient_to_user_input"
    token = "token"


class Output(msgspec.Struct, frozen=True):
    """A result. `target` is what a mutation or gradient writes: a buffer's fqn, an input's name."""

    kind: OutputKind
    value: Value
    target: str = ""


class TreeSpec(msgspec.Struct, frozen=True):
    """How a nest of tuples, lists and dicts is made of leaves, in the order of the leaves.

    `type` is torch's serialized name (`builtins.tuple`, `builtins.list`, `builtins.dict`,
    `collections.OrderedDict`, a model-output class), empty for a leaf; `keys` names the children of
    a dict or named tuple.
    """

    type: str = ""
    keys: tuple[str | int, ...] = ()
    children: tuple[TreeSpec, ...] = ()

    @property
    def is_leaf(self) -> bool:
        return not self.type

    @property
    def leaves(self) -> int:
        """How many leaves there are."""
        return 1 if self.is_leaf else sum(child.leaves for child in self.children)


class Range(NamedTuple):
    """The values that a symbol may take, both ends included; None is unbounded."""

    low: int | None
    high: int | None


class Program:
    """An exported program whose file is open: weights are read from it on demand.

    Use as a context manager, or call `close`.
    """

    def __init__(
        self,
        file: ZipFile,
        *,
        path: Path,
        body: Body,
        inputs: tuple[UserInput, ...],
        stored: Mapping[str, StoredInput],
        outputs: tuple[Output, ...],
        in_spec: TreeSpec,
        out_spec: TreeSpec,
        argument_names: tuple[str, ...],
        ranges: Mapping[str, Range],
        guards: tuple[str, ...],
        torch_version: str,
        notes: tuple[str, ...] = (),
    ) -> None:
        self._file = file
        self.path = path
        self.body = body
        self.inputs = inputs
        """What the caller passes, in the order of the leaves of `in_spec`."""
        self.stored = stored
        """Parameters, buffers and constants by the name of their graph input."""
        self.outputs = outputs
        self.in_spec = in_spec
        """Of (args, kwargs)."""
        self.out_spec = out_spec
        self.argument_names = argument_names
        """Of the forward method; empty where the file does not tell."""
        self.ranges = ranges
        self.guards = guards
        self.torch_version = torch_version
        self.notes = notes
        """What the user should know of the file."""

    def close(self) -> None:
        """Close the file. Weights cannot be read any more."""
        self._file.close()

    def __enter__(self) -> Program:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
