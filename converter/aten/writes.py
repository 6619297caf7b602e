"""Calls that write in place: their functional twins, and the memory that changes."""

from __future__ import annotations

from converter.archive.program import Node, Program
from converter.archive.values import TensorRef
from converter.aten.call import Call
from converter.aten.dtype import convert
from converter.aten.emit import Emitter
from converter.aten.in_place import natural_dtype
from converter.aten.schema_table import OpSchema
from converter.aten.views import Lower, Tensors
from converter.errors import UnsupportedError, Where


class Writes:
    """Writes to the tensors of a program. `changed` are the stored ones, and where."""

    def __init__(self, program: Program, tensors: Tensors, lower: Lower, emit: Emitter) -> None:
        self.program = program
        self.tensors = tensors
        self.lower = lower
        self.emit = emit
        self.changed: dict[str, Where | None] = {}

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
        (value,) = self.lower(call)
        assert value is not None
        if value.dtype != output.dtype:
            convert(self.emit, output, value, str(output.dtype))
            value = output
        self.tensors.write(written, value)
        self.tensors.same(result, written)

    def note(self, name: str) -> None:
        """Tell that the model writes to its input."""
        note = f"the model writes to its input {name}; what is written of it does not"
        if note not in self.emit.graph.notes:
            self.emit.graph.notes.append(note)


def written(node: Node, op: OpSchema) -> str:
    """The tensor that an in-place call writes to."""
    value = dict(node.inputs)[op.arguments[0].name]
    assert isinstance(value, TensorRef)
    return value.name
