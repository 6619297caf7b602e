"""From an exported program to a graph of PyTorch-level operators."""

from __future__ import annotations

from collections.abc import Mapping

from converter.archive.program import (
    Body,
    Node,
    Output,
    OutputKind,
    Program,
    StoredKind,
    SymInput,
    TensorInput,
    UserInput,
)
from converter.archive.region import printable
from converter.archive.values import SymRef, TensorRef, Value
from converter.aten.arguments import Arguments
from converter.aten.bind import bind
from converter.aten.call import Call
from converter.aten.checks import check
from converter.aten.conjugates import RESOLVING
from converter.aten.dtype import number
from converter.aten.emit import Emitter
from converter.aten.in_place import functional
from converter.aten.inline import inline
from converter.aten.kept import (
    MODULE,
    NOTHING,
    Kept,
    keep_module,
    keep_modules,
    keep_operator,
)
from converter.aten.names import last_uses, tensor_names
from converter.aten.operators import find
from converter.aten.outputs import constant, nest
from converter.aten.refusals import refusal, unknown_target
from converter.aten.restore import restored
from converter.aten.schema_table import OpSchema, Release, release, schema
from converter.aten.settled import is_settled
from converter.aten.sharing import shares, viewed
from converter.aten.state import MUTATIONS, check_state, declared
from converter.aten.synonyms import functional_name
from converter.aten.views import Step, Tensors
from converter.aten.writes import Writes, written
from converter.errors import UnsupportedError, Where, foreseen
from converter.ir import Graph, Operand
from converter.symbols import Symbols


def lower(program: Program, symbols: Symbols, kept: Kept = NOTHING) -> Graph:
    """Lower every call of the program. The graph's inputs and outputs are the program's, in order.

    What is `kept` becomes operators of its own. Raises UnsupportedError, with the user's source
    line, for what has no lowering, UsageError for what is to be kept and does not occur.
    """
    body = inline(program.body)
    kept.check(body)
    if kept.modules:
        stored = program.stored.values()
        constants = {one.name for one in stored if one.kind is StoredKind.constant}
        body = keep_modules(body, kept, constants)
    changed: dict[str, Where | None] = declared(program)
    while True:
        lowering = _Lowering(program, body, symbols, kept, changed)
        graph = lowering.run()
        if lowering.writes.changed.keys() <= changed.keys():
            break
        # What is read of a tensor before it is changed is no constant of the model: once more.
        changed |= lowering.writes.changed
    check_state(graph, program, changed)
    return graph


class _Lowering:
    """The state of one lowering."""

    def __init__(
        self,
        program: Program,
        body: Body,
        symbols: Symbols,
        kept: Kept,
        state: Mapping[str, Where | None],
    ) -> None:
        self.program = program
        self.release = release(program.torch_version)
        self.kept = kept
        self.state = state
        self.body = body
        self.symbols = symbols
        self.graph = Graph(symbols.examples)
        self.graph.notes.extend(program.notes)
        self.emit = Emitter(self.graph)
        self.tensors = Tensors(last_uses(body, program.outputs), self.apply, self.emit)
        self.arguments = Arguments(program, body, symbols, self.graph, self.tensors, state)
        self.writes = Writes(self.arguments, self.apply, self.emit)

    def run(self) -> Graph:
        for output in self.program.outputs:
            check_side_effect(output)
            is_written = output.value != TensorRef(output.target)
            if output.kind is OutputKind.user_input_mutation and is_written:
                self.writes.note(output.target)
        for serial, given in enumerate(self.program.inputs):
            self.input(serial, given)
        for index, node in enumerate(self.body.nodes):
            try:
                with foreseen(f"convert {printable(node.target)}", node.where):
                    self.node(index, node)
            except UnsupportedError as error:
                raise error.located(node.where) from None
        self.outputs()
        return self.graph

    def input(self, serial: int, given: UserInput) -> None:
        """Add an input for a tensor, and for a number that is not specialized."""
        if isinstance(given, TensorInput):
            operand = self.arguments.operand(given.name)
            self.graph.add("pnnx.Input", f"pnnx_input_{serial}", (), [operand])
            self.tensors.define(given.name, operand, keeper=given.name)
        elif isinstance(given, SymInput) and isinstance(given.expr, str):
            operand = self.graph.fresh(given.name)
            op = self.graph.add("pnnx.Input", f"pnnx_input_{serial}", (), [operand])
            op.params["number"] = Symbols(self.symbols.examples).evaluate(given.expr)
            self.arguments.numbers.given(given.name, operand)

    # --- nodes

    def node(self, index: int, node: Node) -> None:
        names = list(tensor_names(node.outputs))
        if is_settled(node):
            self.arguments.numbers.settle(node, self.arguments.read)
            return
        if node.target == MODULE or self.kept.keeps(node):
            self.keep(node, names)
            return
        op = known_schema(node, self.release)
        twin = functional(op)
        arguments = self.writes.statistics(index, node, twin.op, twin.arguments(bind(node, op)))
        call = Call(
            twin.target,
            node.name,
            {name: self.arguments.read(value, node) for name, value in arguments.items()},
            [self.arguments.operand(name) for name in names],
            node.where,
            node.module and node.module[:2],
            {
                argument: self.symbols.known(self.body.strides[value.name])
                for argument, value in node.inputs
                if isinstance(value, TensorRef)
            },
            decomposed_of(node, twin.target),
        )
        check(twin.op, call)
        self.tensor_first(twin.op, call)
        if not twin.written or twin.is_view:
            self.define(node, twin.op, names, self.apply(call), call)
            for name, target in zip(names, written(node, twin), strict=False):
                self.tensors.same(target, name)
        else:
            self.writes.write(index, node, twin, names, call)

    def tensor_first(self, op: OpSchema, call: Call) -> None:
        """A number in the place of the first tensor, as in `torch.div(16, 2)`, becomes a tensor:
        PyTorch's functions take numbers for later ones only.
        """
        if not op.arguments or op.arguments[0].type.base != "Tensor":
            return
        name = op.arguments[0].name
        value = call.args[name]
        if isinstance(value, bool | int | float | complex):
            self.emit.begin(call)
            call.args[name] = self.emit.constant(number(value, call.outputs))

    def apply(self, call: Call) -> list[Operand | None]:
        """Lower a call; tell what each of its results is, None for one that nobody may read."""
        call = restored(call)
        lowering = find(call.target)
        if lowering is None:
            raise refusal(call)
        self.emit.begin(call)
        lowering(call, self.emit)
        return [self.emit.result(output) for output in call.outputs]

    def define(
        self, node: Node, op: OpSchema, names: list[str], values: list[Operand | None], call: Call
    ) -> None:
        """Name the results, and keep account of those that are views."""
        sources = viewed(op, node.inputs)
        for place, (name, value) in enumerate(zip(names, values, strict=True)):
            if value is None:
                continue
            doubts = []
            for argument, source in sources:
                shared = shares(op, dict(node.inputs), source, name, self.body, self.symbols)
                if op.name in RESOLVING and self.tensors.is_marked(source):
                    shared = False
                if shared:
                    self.tensors.view(name, source, Step(call, argument, place), value)
                elif shared is None:
                    doubts.append(source)
            if name not in self.tensors:
                self.tensors.define(name, value)
            for source in doubts:
                self.tensors.doubt(name, source)

    def keep(self, node: Node, names: list[str]) -> None:
        """Append an operator that is kept; its results may share memory with what it is given."""
        self.emit.begin(Call("", node.name, {}, [], node.where, node.module and node.module[:2]))
        given = list(tensor_names(tuple(value for _, value in node.inputs)))
        made = [self.arguments.operand(name) for name in names]
        if node.target == MODULE:
            own = {
                name: self.program.stored[name]
                for name in given
                if name in self.program.stored and not self.tensors.is_written(name)
                if name not in self.state
            }
            keep_module(self.emit, node, self.arguments.tensor, own, made)
        else:
            args = [self.arguments.read(value, node) for _, value in node.inputs]
            keep_operator(self.emit, node, args, made)
        for name, operand in zip(names, made, strict=True):
            self.tensors.define(name, operand)
            for source in given:
                if source in self.tensors:
                    self.tensors.doubt(name, source)

    # --- outputs

    def outputs(self) -> None:
        values = [one.value for one in self.program.outputs if one.kind is OutputKind.user]
        self.emit.begin(Call("", "output", {}, []))
        leaves = map(self.leaf, values)
        result = nest(self.program.out_spec, leaves, self.emit)
        self.graph.add("pnnx.Output", "pnnx_output_0", [result])

    def leaf(self, value: Value) -> Operand:
        if isinstance(value, TensorRef):
            return self.arguments.tensor(value.name)
        if isinstance(value, SymRef):
            return self.emit.number(self.arguments.numbers.read(value.name))
        return constant(value, self.emit)


def decomposed_of(node: Node, target: str) -> str | None:
    """The call that a node is left of, None for one that a decomposition did not touch."""
    before = functional_name(node.origin) if node.origin else None
    return before if before != target else None


def known_schema(node: Node, made_by: Release | None) -> OpSchema:
    op = schema(node.target, made_by)
    if op is None or op.is_python:
        raise unknown_target(node)
    return op


def check_side_effect(output: Output) -> None:
    """Inference has one effect, its results; state is checked, other effects are refused."""
    if output.kind in (OutputKind.user, OutputKind.user_input_mutation, OutputKind.token):
        return
    if output.kind in MUTATIONS:
        return
    raise UnsupportedError(
        f"the program writes {output.kind.value.replace('_', ' ')} {output.target!r}",
        mend="export the model in eval mode, with state passed in and returned",
    )
