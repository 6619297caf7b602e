"""Calls that write: their functional twins, and the memory that changes."""

from __future__ import annotations

from collections.abc import Mapping

from converter.archive.program import Node
from converter.archive.values import TensorRef, Value
from converter.aten.arguments import Arguments
from converter.aten.call import Call
from converter.aten.dtype import convert
from converter.aten.emit import Emitter
from converter.aten.in_place import Twin
from converter.aten.normalization import in_training
from converter.aten.result_dtype import in_place_dtype, out_dtype
from converter.aten.schema_table import OpSchema
from converter.aten.views import Lower
from converter.errors import UnsupportedError, Where
from converter.ir import Operand


class Writes:
    """Writes to the tensors of a program. `changed` are the stored ones, and where."""

    def __init__(self, arguments: Arguments, lower: Lower, emit: Emitter) -> None:
        self.arguments = arguments
        self.tensors = arguments.tensors
        self.lower = lower
        self.emit = emit
        self.changed: dict[str, Where | None] = {}

    def write(self, index: int, node: Node, twin: Twin, results: list[str], call: Call) -> None:
        """Let what a call writes to hold the results of its functional twin, and every tensor that
        shares the memory. `results` are their names in the program.

        They have the dtype of what is written to, whatever that of the twin's is.
        """
        targets = written(node, twin)
        for target in targets:
            self.check(index, node, target)
        outputs = list(call.outputs)
        for place, (output, target) in enumerate(zip(outputs, targets, strict=True)):
            before = self.tensors.read(target)
            if twin.has_out:
                self.check_shape(call, target, before, output)
                natural = out_dtype(call, output)
            else:
                natural = in_place_dtype(call, before)
            if natural != output.dtype:
                call.outputs[place] = self.emit.temporary(output.shape, natural)
        values = self.lower(call)
        for value, output, target, result in zip(values, outputs, targets, results, strict=True):
            if value is None:
                raise call.refuse("it writes a by-product to out=", "leave out= away")
            if value.dtype != output.dtype:
                convert(self.emit, output, value, str(output.dtype))
                value = output
            self.tensors.write(target, value)
            self.tensors.same(result, target)

    def statistics(
        self, index: int, node: Node, op: OpSchema, arguments: Mapping[str, Value]
    ) -> dict[str, Value]:
        """Take account of an instance norm that updates running statistics, which it does not read;
        return its arguments without them. A module in training mode is left as it is.
        """
        if op.name != "instance_norm" or arguments["use_input_stats"] is not True:
            return dict(arguments)
        if in_training(node.module and node.module[:2]):
            return dict(arguments)
        for value in (arguments["running_mean"], arguments["running_var"]):
            if isinstance(value, TensorRef) and not self.tensors.is_lost(value.name):
                self.check(index, node, value.name)
                self.tensors.lose(value.name)
        return {**arguments, "running_mean": None, "running_var": None}

    def check(self, index: int, node: Node, target: str) -> None:
        """Take account of a write to a tensor that the model keeps or is given.

        Raises UnsupportedError where it is not known which tensors change.
        """
        self.arguments.tensor(target)
        keeper = self.tensors.keeper(target)
        if keeper in self.arguments.program.stored:
            self.changed.setdefault(keeper, node.where)
        elif keeper:
            self.note(keeper)
        hidden = self.tensors.doubtful(target, index)
        if hidden:
            raise UnsupportedError(
                f"cannot convert {node.target}: it writes in place to {target}, whose memory "
                f"{hidden} may share and is read later",
                mend="write to a clone() instead",
            )

    def check_shape(self, call: Call, target: str, before: Operand, output: Operand) -> None:
        """Refuse an `out` of another shape, which PyTorch resizes, where other tensors show it."""
        if before.shape != output.shape and self.tensors.is_shared(target):
            raise call.refuse(
                "it resizes out=, whose memory other tensors share",
                "give it the shape of the result",
            )

    def note(self, name: str) -> None:
        """Tell that the model writes to its input."""
        note = f"the model writes to its input {name}; what is written of it does not"
        if note not in self.emit.graph.notes:
            self.emit.graph.notes.append(note)


def written(node: Node, twin: Twin) -> list[str]:
    """The tensors that a call writes to."""
    given = dict(node.inputs)
    values = [given[name] for name in twin.written]
    return [value.name for value in values if isinstance(value, TensorRef)]
