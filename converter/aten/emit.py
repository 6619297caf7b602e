"""How lowerings write PyTorch-level operators into the graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeGuard

from converter.aten.call import Arg, Call
from converter.aten.expr import ITSELF, Expr, ExprArg
from converter.errors import Where
from converter.ir import Array, Attribute, Graph, Operand, Operator, Param, Shape
from converter.pnnx.value import format_value


class Emitter:
    """Appends operators to the graph on behalf of one ATen call."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._aliases: dict[Operand, Operand] = {}
        self._unread: set[Operand] = set()
        self._serials: dict[str, int] = {}
        self._name = ""
        self._where: Where | None = None
        self._module: tuple[str, str] | None = None
        self._origin: str | None = None

    def begin(self, call: Call) -> None:
        """Start a call: operators that follow are named after it and come from this source line."""
        self._name, self._where, self._module = call.name, call.where, call.module
        self._origin = call.origin.split(".")[1] if call.origin else None

    def result(self, output: Operand) -> Operand | None:
        """What an output of a lowered call became; None for a by-product that nobody may read."""
        if output in self._unread:
            return None
        value = self._aliases.get(output, output)
        assert value.producer is not None, f"{self._name} leaves {output} without a value"
        return value

    def op(self, type: str, outputs: Sequence[Operand] | Operand, /, **arguments: Arg) -> Operator:
        """Append an operator: tensors among the arguments are its named inputs, the rest params.

        So are numbers that the model works out as it runs, and lists that hold one.
        """
        inputs: list[Operand] = []
        names: list[str] = []
        params: dict[str, Param] = {}
        for name, value in arguments.items():
            if isinstance(value, Expr) or is_computed_list(value):
                value = self.number(value)
            if isinstance(value, Operand):
                inputs.append(value)
                names.append(name)
            else:
                params[name] = _constant(type, name, value)
        return self._append(type, inputs, outputs, names, params)

    def positional(
        self,
        type: str,
        outputs: Sequence[Operand] | Operand,
        inputs: Sequence[Operand],
        **params: Param,
    ) -> Operator:
        """Append an operator whose inputs have no names (`torch.cat` of a list of tensors)."""
        return self._append(type, inputs, outputs, (), params)

    def weighted(
        self,
        type: str,
        outputs: Sequence[Operand] | Operand,
        inputs: Sequence[Operand],
        weights: Mapping[str, Operand],
        **params: Param,
    ) -> Operator:
        """Append a module: of its inputs only the weights have names."""
        names = [*[""] * len(inputs), *weights]
        return self._append(type, [*inputs, *weights.values()], outputs, names, params)

    def expression(self, output: Operand, expression: ExprArg | tuple[ExprArg, ...]) -> Operator:
        """Append a `pnnx.Expression` that computes `output`; a tuple makes a list of sizes."""
        inputs: list[Operand] = []

        def text(arg: ExprArg | tuple[ExprArg, ...]) -> str:
            if isinstance(arg, tuple):
                return f"[{','.join(map(text, arg))}]"
            if isinstance(arg, Expr):
                inner = ",".join(map(text, arg.args))
                return inner if arg.function == ITSELF else f"{arg.function}({inner})"
            if not isinstance(arg, Operand):
                return format_value(arg)
            if arg not in inputs:
                inputs.append(arg)
            return f"@{inputs.index(arg)}"

        expr = text(expression)
        return self._append("pnnx.Expression", inputs, output, (), {"expr": expr})

    def number(self, value: ExprArg | tuple[ExprArg, ...]) -> Operand:
        """Append a `pnnx.Expression` of a number or a list of numbers; return what holds it."""
        name, self._name = self._name, f"{self._name}_size"
        output = self.temporary(None, None)
        self.expression(output, value)
        self._name = name
        return output

    def alias(self, output: Operand, source: Operand) -> None:
        """Let every reader of `output` read `source` instead."""
        self._aliases[output] = source
        del self.graph.operands[output.name]

    def unread(self, output: Operand) -> None:
        """Leave a by-product (saved statistics) without a value: reading it later is refused."""
        self._unread.add(output)
        del self.graph.operands[output.name]

    def copy(self, operand: Operand) -> Operand:
        """Make an operand of the same shape and dtype."""
        return self.temporary(operand.shape, operand.dtype)

    def temporary(self, shape: Shape | None, dtype: str | None) -> Operand:
        """Make an operand between two operators of one call."""
        return self.graph.fresh(f"{self._name}_t", shape, dtype)

    def attribute(self, output: Operand, attribute: Attribute) -> None:
        """Store a tensor in the model; `output` holds it."""
        op = self._append("pnnx.Attribute", (), output, (), {})
        op.attrs["data"] = attribute

    def constant(self, values: Array) -> Operand:
        """Store values that are known, and return the operand that holds them."""
        attribute = Attribute.of(values, frozen=True)
        output = self.temporary(attribute.shape, attribute.dtype)
        self.attribute(output, attribute)
        return output

    def _append(
        self,
        type: str,
        inputs: Sequence[Operand],
        outputs: Sequence[Operand] | Operand,
        input_names: Sequence[str],
        params: Mapping[str, Param],
    ) -> Operator:
        if isinstance(outputs, Operand):
            outputs = (outputs,)
        op = self.graph.add(
            type, self._unique(), inputs, outputs, input_names=input_names, params=params
        )
        op.where, op.module, op.origin = self._where, self._module, self._origin
        return op

    def _unique(self) -> str:
        """The call's name for its first operator, numbered for the others."""
        serial = self._serials.get(self._name, 0)
        self._serials[self._name] = serial + 1
        return f"{self._name}_{serial}" if serial else self._name


def is_computed_list(value: Arg) -> TypeGuard[tuple[ExprArg, ...]]:
    """Whether it is a list of numbers that holds one which is worked out as the model runs."""
    return isinstance(value, tuple) and any(isinstance(item, Expr) for item in value)


def _constant(type: str, name: str, value: Arg) -> Param:
    assert not isinstance(value, Operand | Expr)
    if isinstance(value, tuple):
        for item in value:
            if isinstance(item, Operand):
                raise TypeError(f"{type}: {name} holds tensors; use positional()")
        return tuple(_constant(type, name, item) for item in value)
    return value
