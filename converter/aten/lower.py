"""From an exported program to a graph of PyTorch-level operators."""

from __future__ import annotations

from collections.abc import Iterator

from converter.archive.program import Node, Output, OutputKind, Program, TensorInput, TreeSpec
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
from converter.aten.aliases import SELF_RETURNING, Aliases
from converter.aten.bind import bind
from converter.aten.call import Arg, Call
from converter.aten.emit import Emitter
from converter.aten.operators import LOWERINGS
from converter.aten.schema_table import OpSchema, schema
from converter.errors import UnsupportedError
from converter.ir import Graph, Operand
from converter.symbols import Symbols

TORCHSCRIPT_HINT = "the TorchScript frontend may convert it: trace the model and use pnnx"


def lower(program: Program, symbols: Symbols) -> Graph:
    """Lower every call of the program. The graph's inputs and outputs are the program's, in order.

    Raises UnsupportedError, with the user's source line, for what has no lowering.
    """
    return _Lowering(program, symbols).run()


class _Lowering:
    """The state of one lowering: what each name of the program currently means."""

    def __init__(self, program: Program, symbols: Symbols) -> None:
        self.program = program
        self.symbols = symbols
        self.graph = Graph()
        self.emit = Emitter(self.graph)
        self.values: dict[str, Operand] = {}
        self.aliases = Aliases(last_uses(program))

    def run(self) -> Graph:
        for output in self.program.outputs:
            check_side_effect(output)
        for serial, given in enumerate(self.program.inputs):
            if isinstance(given, TensorInput):
                operand = self.operand(given.name)
                self.values[given.name] = operand
                self.graph.add("pnnx.Input", f"pnnx_input_{serial}", (), [operand])
        for index, node in enumerate(self.program.body.nodes):
            self.node(index, node)
        self.outputs()
        return self.graph

    # --- nodes

    def node(self, index: int, node: Node) -> None:
        outputs = list(self.names(node.outputs))
        if not outputs and all(isinstance(value, SymRef) for value in node.outputs):
            # Arithmetic on symbols was done when their values were bound; checks without a result
            # (`_assert_scalar`) hold for the shapes that were given.
            return
        op = known_schema(node)
        twin = functional(op)
        target = f"{twin.namespace}.{twin.name}.{twin.overload}"
        module = node.module
        values = [self.argument(value, node) for value in bind(node, op).values()]
        call = Call(
            target,
            node.name,
            dict(zip((argument.name for argument in twin.arguments), values, strict=True)),
            [self.operand(name) for name in outputs],
            node.where,
            (module.fqn, module.class_name) if module else None,
        )
        lowering = LOWERINGS.get(target)
        if lowering is None:
            raise UnsupportedError(
                f"cannot convert {target}: no conversion is known",
                where=node.where,
                mend=TORCHSCRIPT_HINT,
            )
        self.emit.begin(call.name, call.where, call.module)
        lowering(call, self.emit)
        for name, operand in zip(outputs, call.outputs, strict=True):
            if operand in self.emit.dropped:
                continue
            self.values[name] = self.emit.aliases.get(operand, operand)
            if self.values[name].producer is None:
                raise AssertionError(f"the lowering of {target} leaves {operand} without a value")
        self.track(index, node, op, outputs)

    def track(self, index: int, node: Node, op: OpSchema, outputs: list[str]) -> None:
        """Keep account of views; let every name of a tensor written in place mean the result."""
        given = dict(node.inputs)
        for argument in op.arguments:
            value = given.get(argument.name)
            if not isinstance(value, TensorRef) or not argument.type.alias:
                continue
            if not argument.type.mutated:
                for name in outputs:
                    self.aliases.view(name, value.name)
            else:
                self.written(index, node, value.name, outputs[0])
        if f"{op.namespace}.{op.name}.{op.overload}" in SELF_RETURNING:
            first = given[op.arguments[0].name]
            assert isinstance(first, TensorRef)
            self.aliases.view(outputs[0], first.name)

    def written(self, index: int, node: Node, written: str, result: str) -> None:
        if written in self.program.stored:
            fqn = self.program.stored[written].fqn
            raise UnsupportedError(
                f"cannot convert {node.target}: it changes {fqn}, which the model keeps",
                where=node.where,
                mend="return the new value instead of storing it",
            )
        hidden = self.aliases.hidden_read(written, index)
        if hidden is not None:
            raise UnsupportedError(
                f"cannot convert {node.target}: it writes in place to {written}, whose memory "
                f"{hidden} may share and is read later",
                where=node.where,
                mend="write to a clone() instead",
            )
        self.aliases.same(result, written)
        for name in self.aliases.names(written):
            self.values[name] = self.values[result]

    # --- values

    def names(self, outputs: tuple[Value, ...]) -> Iterator[str]:
        """The tensors among a node's results, lists opened."""
        for value in outputs:
            if isinstance(value, TensorRef):
                yield value.name
            elif isinstance(value, tuple):
                yield from self.names(value)

    def operand(self, name: str) -> Operand:
        type = self.program.body.tensors[name]
        return self.graph.fresh(name, self.symbols.shape(type.shape), type.dtype)

    def argument(self, value: Value, node: Node) -> Arg:
        match value:
            case TensorRef(name=name):
                return self.tensor(name)
            case SymRef(name=name):
                return self.symbols.evaluate(self.program.body.symbols[name])
            case MemoryFormat() | Layout() | Device():
                return f"torch.{value}" if not isinstance(value, Device) else str(value)
            case GraphRef() | CustomRef() | OperatorRef() | dict():
                raise UnsupportedError(
                    f"cannot convert {node.target}: it takes {type(value).__name__}",
                    where=node.where,
                    mend=TORCHSCRIPT_HINT,
                )
            case tuple() if not isinstance(value, Device):
                return tuple(self.argument(item, node) for item in value)
            case _:
                return value

    def tensor(self, name: str) -> Operand:
        if name not in self.values:
            stored = self.program.stored.get(name)
            if stored is None:
                raise UnsupportedError(f"{name} is read, a by-product that pnnx does not have")
            operand = self.graph.fresh(name, stored.attribute.shape, stored.attribute.dtype)
            op = self.graph.add("pnnx.Attribute", stored.fqn or name, (), [operand])
            op.attrs["data"] = stored.attribute
            self.values[name] = operand
        return self.values[name]

    # --- outputs

    def outputs(self) -> None:
        leaves = iter([one.value for one in self.program.outputs if one.kind is OutputKind.user])
        self.emit.begin("output", None, None)
        self.graph.add("pnnx.Output", "pnnx_output_0", [self.tree(self.program.out_spec, leaves)])

    def tree(self, spec: TreeSpec, leaves: Iterator[Value]) -> Operand:
        if spec.is_leaf:
            return self.leaf(next(leaves))
        parts = [self.tree(child, leaves) for child in spec.children]
        kinds = {"builtins.tuple": "prim::TupleConstruct", "builtins.list": "prim::ListConstruct"}
        if spec.type not in kinds:
            raise UnsupportedError(
                f"the model returns a {spec.type}", mend="return a tensor, a tuple or a list"
            )
        output = self.graph.fresh("output")
        self.emit.positional(kinds[spec.type], output, parts)
        return output

    def leaf(self, value: Value) -> Operand:
        if isinstance(value, TensorRef):
            return self.tensor(value.name)
        if isinstance(value, SymRef):
            value = self.symbols.evaluate(self.program.body.symbols[value.name])
        if value is not None and not isinstance(value, bool | int | float):
            raise UnsupportedError(f"the model returns {value!r}", mend="return tensors")
        output = self.graph.fresh("output")
        self.emit.expression(output, value)
        return output


def known_schema(node: Node) -> OpSchema:
    op = schema(node.target)
    if op is None or op.is_python:
        raise UnsupportedError(
            f"cannot convert {node.target}: the operator is not known",
            where=node.where,
            mend=TORCHSCRIPT_HINT,
        )
    return op


def functional(op: OpSchema) -> OpSchema:
    """`aten.relu.default` for itself and for its in-place twin `aten.relu_.default`.

    The two take the same arguments in the same order, if not always by the same names.
    """
    if not op.mutates or not op.name.endswith("_") or op.name.endswith("__"):
        return op
    twin = schema(f"torch.ops.{op.namespace}.{op.name[:-1]}.{op.overload}")
    return op if twin is None or len(twin.arguments) != len(op.arguments) else twin


def check_side_effect(output: Output) -> None:
    """Inference has one effect, its results; others are refused, but for the caller's tensors."""
    if output.kind in (OutputKind.user, OutputKind.user_input_mutation):
        return
    raise UnsupportedError(
        f"the program writes {output.kind.value.replace('_', ' ')} {output.target!r}",
        mend="export the model in eval mode, with state passed in and returned",
    )


def last_uses(program: Program) -> dict[str, int]:
    """The index of the last node that reads each name; graph outputs are read after all of them."""
    last: dict[str, int] = {}

    def read(value: Value, index: int) -> None:
        if isinstance(value, TensorRef):
            last[value.name] = index
        elif isinstance(value, tuple) and not isinstance(value, SymRef | Device):
            for item in value:
                read(item, index)

    for index, node in enumerate(program.body.nodes):
        for _, value in node.inputs:
            read(value, index)
    for output in program.outputs:
        read(output.value, len(program.body.nodes))
    return last
