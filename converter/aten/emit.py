"""How lowerings write PyTorch-level operators into the graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from converter.aten.call import Arg, Call
from converter.errors import Where
from converter.ir import Array, Attribute, Graph, Operand, Operator, Param, Scalar, Shape
from converter.pnnx.value import format_value


class Expr(msgspec.Struct, frozen=True):
    """A function of operands and numbers, such as `add(@0,mul(@1,2))`."""

    function: str
    args: tuple[ExprArg, ...]


ExprArg = Expr | Operand | Scalar


def expr(function: str, *args: ExprArg) -> Expr:
    return Expr(function, args)


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

    def begin(self, call: Call) -> None:
        """Start a call: operators that follow are named after it and come from this source line."""
        self._name, self._where, self._module = call.name, call.where, call.module

    def result(self, output: Operand) -> Operand | None:
        """What an output of a lowered call became; None for a by-product that nobody may read."""
        if output in self._unread:
            return None
        value = self._aliases.get(output, output)
        assert value.producer is not None, f"{self._name} leaves {output} without a value"
        return value

    def op(self, type: str, outputs: Sequence[Operand] | Operand, /, **arguments: Arg) -> Operator:
        """Append an operator: tensors among the arguments are its named inputs, the rest params."""
        inputs: list[Operand] = []
        names: list[str] = []
        params: dict[str, Param] = {}
        for name, value in arguments.items():
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

    def expression(self, output: Operand, expression: Expr | Scalar) -> Operator:
        """Append a `pnnx.Expression` that computes `output`."""
        inputs: list[Operand] = []

        def text(arg: ExprArg) -> str:
            if isinstance(arg, Expr):
                return f"{arg.function}({','.join(map(text, arg.args))})"
            if not isinstance(arg, Operand):
                return format_value(arg)
            if arg not in inputs:
                inputs.append(arg)
            return f"@{inputs.index(arg)}"

        expr = text(expression)
        return self._append("pnnx.Expression", inputs, output, (), {"expr": expr})

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
        attribute = Attribute.of(values)
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
        op.where, op.module = self._where, self._module
        return op

    def _unique(self) -> str:
        """The call's name for its first operator, numbered for the others."""
        serial = self._serials.get(self._name, 0)
        self._serials[self._name] = serial + 1
        return f"{self._name}_{serial}" if serial else self._name


def _constant(type: str, name: str, value: Arg) -> Param:
    assert not isinstance(value, Operand)
    if isinstance(value, tuple):
        for item in value:
            if isinstance(item, Operand):
                raise TypeError(f"{type}: {name} holds tensors; use positional()")
        return tuple(_constant(type, name, item) for item in value)
    return value
