"""From an exported program to a graph of PyTorch-level operators."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

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
from converter.archive.zip import printable
from converter.aten.bind import bind
from converter.aten.call import Arg, Call
from converter.aten.dtype import convert, number
from converter.aten.emit import Emitter
from converter.aten.expr import ITSELF, ExprArg, expr
from converter.aten.in_place import functional, natural_dtype
from converter.aten.inline import inline
from converter.aten.kept import (
    MODULE,
    NOTHING,
    Kept,
    keep_module,
    keep_modules,
    keep_operator,
)
from converter.aten.numbers import number as number_of
from converter.aten.operators import find
from converter.aten.outputs import constant, nest
from converter.aten.refusals import refusal, unknown_target
from converter.aten.restore import restored
from converter.aten.schema_table import OpSchema, schema
from converter.aten.sharing import is_dense, shares, viewed
from converter.aten.state import MUTATIONS, STATE, check_state, declared
from converter.aten.synonyms import functional_name
from converter.aten.views import Step, Tensors
from converter.errors import UnsupportedError, Where, foreseen
from converter.ir import Graph, Operand, Shape
from converter.pnnx.names import words
from converter.symbols import Symbols, unknown


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
        if lowering.changed.keys() <= changed.keys():
            break
        # What is read of a tensor before it is changed is no constant of the model: once more.
        changed |= lowering.changed
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
        self.kept = kept
        self.state = state
        self.changed: dict[str, Where | None] = {}
        self.body = body
        self.symbols = symbols
        self.graph = Graph(symbols.examples)
        self.emit = Emitter(self.graph)
        self.numbers: dict[str, ExprArg | UnsupportedError] = {}
        self.tensors = Tensors(last_uses(body, program.outputs), self.apply, self.emit)

    def run(self) -> Graph:
        for output in self.program.outputs:
            check_side_effect(output)
            if output.kind is OutputKind.user_input_mutation:
                self.note(output.target)
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
            operand = self.operand(given.name)
            self.graph.add("pnnx.Input", f"pnnx_input_{serial}", (), [operand])
            self.tensors.define(given.name, operand, keeper=given.name)
        elif isinstance(given, SymInput) and isinstance(given.expr, str):
            operand = self.graph.fresh(given.name)
            op = self.graph.add("pnnx.Input", f"pnnx_input_{serial}", (), [operand])
            op.params["number"] = Symbols(self.symbols.examples).evaluate(given.expr)
            self.numbers[given.name] = expr(ITSELF, operand)

    # --- nodes

    def node(self, index: int, node: Node) -> None:
        names = list(tensor_names(node.outputs))
        if is_settled(node):
            self.settle(node)
            return
        if node.target == MODULE or self.kept.keeps(node):
            self.keep(node, names)
            return
        op = known_schema(node)
        twin = functional(op)
        values = [self.argument(value, node) for value in bind(node, op).values()]
        call = Call(
            f"{twin.namespace}.{twin.name}.{twin.overload}",
            node.name,
            dict(zip((argument.name for argument in twin.arguments), values, strict=True)),
            [self.operand(name) for name in names],
            node.where,
            node.module and node.module[:2],
            {
                argument: self.symbols.known(self.body.strides[value.name])
                for argument, value in node.inputs
                if isinstance(value, TensorRef)
            },
            decomposed_of(node, f"{twin.namespace}.{twin.name}.{twin.overload}"),
        )
        self.tensor_first(twin, call)
        if twin is op:
            self.define(node, op, names, self.apply(call), call)
        elif any(argument.type.alias for argument in twin.arguments):
            # `x.unsqueeze_(0)` writes nothing: x becomes a view of what it was.
            self.define(node, twin, names, self.apply(call), call)
            self.tensors.same(self.written(node, op), names[0])
        else:
            self.write(index, node, self.written(node, op), names[0], call)

    def settle(self, node: Node) -> None:
        """Note how a number is worked out that sizes or tensors decide as the model runs."""
        for value in node.outputs:
            if not isinstance(value, SymRef):
                continue
            if self.symbols.number(self.body.symbols[value.name]) is not None:
                continue
            try:
                args = [self.scalar(given, node) for _, given in node.inputs]
                self.numbers[value.name] = number_of(node.target, args)
            except UnsupportedError as error:
                self.numbers[value.name] = error.located(node.where)
            except KeyError:
                self.numbers[value.name] = UnsupportedError(
                    f"cannot convert {node.target}: expressions of sizes do not have it",
                    where=node.where,
                    mend="fix the dims with inputshape=[…]",
                )

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
                if shared:
                    self.tensors.view(name, source, Step(call, argument, place), value)
                elif shared is None:
                    doubts.append(source)
            if name not in self.tensors:
                self.tensors.define(name, value)
            for source in doubts:
                self.tensors.doubt(name, source)

    @staticmethod
    def written(node: Node, op: OpSchema) -> str:
        """The tensor that an in-place call writes to."""
        value = dict(node.inputs)[op.arguments[0].name]
        assert isinstance(value, TensorRef)
        return value.name

    def write(self, index: int, node: Node, written: str, result: str, call: Call) -> None:
        """An in-place call: its functional twin, and every tensor that shares the memory changes.

        The result has the dtype of what is written to, whatever that of the twin is.
        """
        keeper = self.tensors.keeper(written)
        if keeper in self.program.stored:
            self.changed.setdefault(keeper, node.where)
        elif keeper:
            self.note(keeper)
        hidden = self.tensors.doubtful(written, index)
        if hidden:
            raise UnsupportedError(
                f"cannot convert {node.target}: it writes in place to {written}, whose memory "
                f"{hidden} may share and is read later",
                mend="write to a clone() instead",
            )
        (output,) = call.outputs
        natural = natural_dtype(call)
        if natural != output.dtype:
            call.outputs = [self.emit.temporary(output.shape, natural)]
        (value,) = self.apply(call)
        assert value is not None
        if value.dtype != output.dtype:
            convert(self.emit, output, value, str(output.dtype))
            value = output
        self.tensors.write(written, value)
        self.tensors.same(result, written)

    def note(self, name: str) -> None:
        note = f"the model writes to its input {name}; what is written of it does not"
        if note not in self.graph.notes:
            self.graph.notes.append(note)

    def keep(self, node: Node, names: list[str]) -> None:
        """Append an operator that is kept; its results may share memory with what it is given."""
        self.emit.begin(Call("", node.name, {}, [], node.where, node.module and node.module[:2]))
        given = list(tensor_names(tuple(value for _, value in node.inputs)))
        made = [self.operand(name) for name in names]
        if node.target == MODULE:
            own = {
                name: self.program.stored[name]
                for name in given
                if name in self.program.stored and not self.tensors.is_written(name)
                if name not in self.state
            }
            keep_module(self.emit, node, self.tensor, own, made)
        else:
            args = [self.argument(value, node) for _, value in node.inputs]
            keep_operator(self.emit, node, args, made)
        for name, operand in zip(names, made, strict=True):
            self.tensors.define(name, operand)
            for source in given:
                if source in self.tensors:
                    self.tensors.doubt(name, source)

    # --- values

    def operand(self, name: str) -> Operand:
        type = self.body.tensors[name]
        return self.fresh(name, self.symbols.known(type.shape), type.dtype)

    def fresh(self, name: str, shape: Shape, dtype: str | None) -> Operand:
        """An operand of a tensor of the program."""
        operand = self.graph.fresh(name, shape, dtype)
        operand.row_major = is_dense(name, self.body, self.symbols) is not False
        return operand

    def argument(self, value: Value, node: Node) -> Arg:
        match value:
            case TensorRef(name=name):
                return self.tensor(name)
            case SymRef(name=name):
                return self.number(name)
            case MemoryFormat() | Layout() | Device():
                return f"torch.{value}" if not isinstance(value, Device) else str(value)
            case GraphRef() | CustomRef() | OperatorRef() | dict():
                raise UnsupportedError(
                    f"cannot convert {node.target}: it takes {told(value)}",
                    where=node.where,
                    mend="pass it tensors and numbers",
                )
            case tuple() if not isinstance(value, Device):
                return tuple(self.argument(item, node) for item in value)
            case _:
                return value

    def scalar(self, value: Value, node: Node) -> ExprArg:
        """An argument of a function of numbers."""
        argument = self.argument(value, node)
        if isinstance(argument, tuple):
            raise UnsupportedError(f"cannot convert {node.target} of {argument!r}")
        return argument

    def number(self, name: str) -> ExprArg:
        """A number, or how it is worked out as the model runs."""
        expression = self.body.symbols[name]
        value = self.symbols.number(expression)
        if value is not None:
            return value
        found = self.numbers.get(name) or unknown(str(expression))
        if isinstance(found, UnsupportedError):
            raise found
        return found

    def tensor(self, name: str) -> Operand:
        """The present value of a tensor; a stored one gets an operator once it is read."""
        if name not in self.tensors:
            stored = self.program.stored.get(name)
            if stored is None:
                raise UnsupportedError(f"{name} is read, a by-product that pnnx does not have")
            operand = self.fresh(name, stored.attribute.shape, stored.attribute.dtype)
            if name in self.state:
                self.graph.add(STATE, name, (), [operand])
            else:
                op = self.graph.add("pnnx.Attribute", stored.fqn or name, (), [operand])
                op.attrs["data"] = stored.attribute
            self.tensors.define(name, operand, keeper=name)
        return self.tensors.read(name)

    # --- outputs

    def outputs(self) -> None:
        values = [one.value for one in self.program.outputs if one.kind is OutputKind.user]
        self.emit.begin(Call("", "output", {}, []))
        leaves = map(self.leaf, values)
        result = nest(self.program.out_spec, leaves, self.emit)
        self.graph.add("pnnx.Output", "pnnx_output_0", [result])

    def leaf(self, value: Value) -> Operand:
        if isinstance(value, TensorRef):
            return self.tensor(value.name)
        if isinstance(value, SymRef):
            return self.emit.number(self.number(value.name))
        return constant(value, self.emit)


CHECKS = words(
    """
    _assert_async _assert_scalar _assert_tensor_metadata _linalg_check_errors sym_constrain_range
    sym_constrain_range_for_size
    """
)
"""Operators without results that a program could do without."""


def is_settled(node: Node) -> bool:
    """Whether a node was worked out, or checked, when the shapes were given.

    It does arithmetic on symbols (None are results that nobody reads), or is one of CHECKS, plain
    or in the order of side effects.
    """
    if node.target == WITH_EFFECTS:
        return any(
            isinstance(value, OperatorRef) and is_check(value.target) for _, value in node.inputs
        )
    if node.outputs:
        return all(value is None or isinstance(value, SymRef) for value in node.outputs)
    return is_check(node.target)


WITH_EFFECTS = "torch.ops.higher_order.with_effects"
"""(token, operator, its arguments…): decomposed programs order what has side effects."""


def is_check(target: str) -> bool:
    return target.startswith("torch.ops.aten.") and target.split(".")[3] in CHECKS


def tensor_names(outputs: tuple[Value, ...]) -> Iterator[str]:
    """The tensors among a node's results, lists opened."""
    for value in outputs:
        if isinstance(value, TensorRef):
            yield value.name
        elif isinstance(value, tuple):
            yield from tensor_names(value)


def decomposed_of(node: Node, target: str) -> str | None:
    """The call that a node is left of, None for one that a decomposition did not touch."""
    before = functional_name(node.origin) if node.origin else None
    return before if before != target else None


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


def known_schema(node: Node) -> OpSchema:
    op = schema(node.target)
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


def last_uses(body: Body, outputs: Sequence[Output]) -> dict[str, int]:
    """The index of the last node that reads each name; graph outputs are read after all of them."""
    last: dict[str, int] = {}

    def read(value: Value, index: int) -> None:
        if isinstance(value, TensorRef):
            last[value.name] = index
        elif isinstance(value, tuple) and not isinstance(value, SymRef | Device):
            for item in value:
                read(item, index)

    for index, node in enumerate(body.nodes):
        for _, value in node.inputs:
            read(value, index)
    for output in outputs:
        read(output.value, len(body.nodes))
    return last
