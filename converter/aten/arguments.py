"""What the values of a program are in the graph: its tensors, numbers and constants."""

from __future__ import annotations

from collections.abc import Mapping

from converter.archive.program import Body, Node, Program
from converter.archive.region import printable
from converter.archive.values import (
    CustomRef,
    Device,
    GraphRef,
    Layout,
    MemoryFormat,
    OperatorRef,
    SymRef,
    TensorRef,
    Value,
)
from converter.aten.call import Arg
from converter.aten.numbers import Numbers
from converter.aten.sharing import is_dense
from converter.aten.state import STATE
from converter.aten.views import Tensors
from converter.errors import UnsupportedError, Where
from converter.ir import Graph, Operand
from converter.symbols import Symbols


class Arguments:
    """Reads what nodes take. A stored tensor gets an operator once it is read: `pnnx.Attribute`, or
    STATE for one that the model changes (`state`).
    """

    def __init__(
        self,
        program: Program,
        body: Body,
        symbols: Symbols,
        graph: Graph,
        tensors: Tensors,
        state: Mapping[str, Where | None],
    ) -> None:
        self.program = program
        self.body = body
        self.symbols = symbols
        self.graph = graph
        self.tensors = tensors
        self.state = state
        self.numbers = Numbers(body, symbols)

    def operand(self, name: str) -> Operand:
        """Make the operand of a tensor of the program."""
        type = self.body.tensors[name]
        operand = self.graph.fresh(name, self.symbols.known(type.shape), type.dtype)
        operand.row_major = is_dense(name, self.body, self.symbols) is not False
        return operand

    def read(self, value: Value, node: Node) -> Arg:
        """What a node takes. Raises UnsupportedError for what a graph has no place for."""
        match value:
            case TensorRef(name=name):
                return self.tensor(name)
            case SymRef(name=name):
                return self.numbers.read(name)
            case Device():
                return str(value)
            case MemoryFormat() | Layout():
                return f"torch.{value}"
            case GraphRef() | CustomRef() | OperatorRef() | dict():
                raise UnsupportedError(
                    f"cannot convert {node.target}: it takes {told(value)}",
                    where=node.where,
                    mend="pass it tensors and numbers",
                )
            case tuple():
                return tuple(self.read(item, node) for item in value)
            case _:
                return value

    def tensor(self, name: str) -> Operand:
        """The present value of a tensor."""
        if name not in self.tensors:
            stored = self.program.stored.get(name)
            if stored is None:
                raise UnsupportedError(f"{name} is read, a by-product that pnnx does not have")
            operand = self.operand(name)
            if name in self.state:
                self.graph.add(STATE, name, (), [operand])
            else:
                op = self.graph.add("pnnx.Attribute", stored.fqn or name, (), [operand])
                op.attrs["data"] = stored.attribute
            self.tensors.define(name, operand, keeper=name)
        return self.tensors.read(name)


def told(value: Value) -> str:
    """What an argument is that a graph cannot hold."""
    match value:
        case CustomRef(class_name=name):
            return f"an object of the class {printable(name)}"
        case OperatorRef(target=target):
            return f"the operator {printable(target)}"
        case GraphRef():
            return "a graph"
        case _:
            return "a dict"
