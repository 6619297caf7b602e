"""Lower a PyTorch-level graph to ncnn's layers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from converter.ir import Attribute, Graph, Operand, Operator, Param, Shape
from converter.ncnn.batch import wanted_axes
from converter.ncnn.blob import MAX_RANK, Blob, carried, physical
from converter.ncnn.graph import FLOATS, INTEGERS, Literal, NcnnGraph, Nest, Port, reshaped
from converter.ncnn.integers import numbers
from converter.ncnn.kept import KEPT
from converter.ncnn.layers import INPUT, MEMORY_DATA, RESHAPE, ForeignLayer, LayerCall
from converter.ncnn.op import FIX, Op
from converter.ncnn.passes.dead_layers import remove_dead_layers
from converter.ncnn.passes.fuse_activation import fuse_activation
from converter.ncnn.passes.fuse_padding import fuse_padding
from converter.ncnn.passes.fuse_transpose import fuse_transpose
from converter.ncnn.passes.split_blobs import split_blobs
from converter.ncnn.registry import RULES, Dtypes
from converter.ncnn.shape import PAIRED
from converter.ncnn.sizes import NAMES, Sizes
from converter.pnnx.literal import literal
from converter.pnnx.value import parse_value
from converter.rules import named, went_through

PASSES = (remove_dead_layers, fuse_activation, fuse_padding, fuse_transpose, split_blobs)
"""In this order: the dead read blobs too, and what is split has more readers than one."""


def lower(graph: Graph) -> NcnnGraph:
    """Lower a graph of PyTorch-level operators, as pnnx writes them, to ncnn layers.

    The graph is not changed. Raises UnsupportedError for an operator or an argument that ncnn does
    not have, naming the operator, the user's source line and the mend.
    """
    made = Lowering(graph).run()
    for run in PASSES:
        layers = len(made.layers.operators)
        run(made)
        if len(made.layers.operators) != layers:  # each makes some or takes some away
            went_through(named(run.__module__, run.__name__))
    return made


NESTS = {
    "prim::TupleConstruct": slice(None),
    "prim::ListConstruct": slice(None),
    "prim::DictConstruct": slice(1, None, 2),
}
"""What makes a nest of results, and which of its inputs are in it: the values of a dict."""

Value = Blob | Literal | tuple["Value", ...]


class Lowering:
    """The state of one lowering: the values so far, and the network being made."""

    def __init__(self, graph: Graph) -> None:
        self.made = NcnnGraph(Graph(graph.sizes))
        self.wanted = wanted_axes(graph)
        self._graph = graph
        self._numbers = numbers(graph)
        self._values: dict[Operand, Value] = {}
        self._names: dict[str, int] = {}
        self.inputs: list[Blob] = []
        self.made_bytes = 0

    def run(self) -> NcnnGraph:
        for operator in self._graph.operators:
            op = Op(operator, self)
            try:
                self._lower(op)
            except (ValueError, ArithmeticError) as e:  # a number that ncnn, or nothing, can hold
                op.refuse(str(e))
        return self.made

    def _lower(self, op: Op) -> None:
        operator = op.operator
        if operator.type == "pnnx.Input":
            self._values[operator.outputs[0]] = self._input(op)
        elif operator.type == "pnnx.Output":
            self.made.result = tuple(self._output(op, operand) for operand in operator.inputs)
            if len(operator.inputs) == 1:
                self.made.result = self.made.result[0]
        elif operator.type in NESTS:
            items = operator.inputs[NESTS[operator.type]]
            nest = tuple(self._value(op, operand) for operand in items)
            self._values[operator.outputs[0]] = nest
        elif _is_key(operator) or _is_size(operator):
            return
        elif _is_returned(operator):
            value = parse_value(str(operator.params["expr"]))
            self._values[operator.outputs[0]] = Literal(literal(value))
        else:
            self._operator(op)

    def _operator(self, op: Op) -> None:
        rule = KEPT if op.operator.opaque else RULES.get(op.type)
        if rule is None:
            op.refuse("has no ncnn layer", "write it with other operators, or take the .pnnx files")
        went_through(rule.name)
        _check_dtypes(op, rule.dtypes)
        made = rule.lower(op)
        self._check_read(op)
        blobs = [made] if isinstance(made, Blob) else list(made)
        indices = rule.dtypes == "moved" and self._indices(op)
        for operand, blob in zip(op.operator.outputs, blobs, strict=True):
            dtype = operand.dtype or blob.dtype
            self._values[operand] = replace(blob, dtype=dtype, indices=indices)

    @staticmethod
    def _check_read(op: Op) -> None:
        """What a rule does not ask for would be left out silently, unless only its shape counts."""
        for name, operand in zip(op.names, op.inputs, strict=True):
            if operand not in op.read and not op.type.endswith(("_as", "_like", ".fill")):
                op.refuse(f"{name or 'an input'} is a tensor, which ncnn's layer does not take")

    def _indices(self, op: Op) -> bool:
        """Whether what an operator moves is indices; not if only some of it is."""
        held = {op.blob(index).indices for index in range(op.count)}
        if len(held) > 1:
            op.refuse("mixes indices for an embedding with other numbers")
        return True in held

    # --- values

    def _value(self, op: Op, operand: Operand) -> Value:
        if operand not in self._values:
            op.refuse("returns a number that follows from sizes, and ncnn returns blobs", FIX)
        return self._values[operand]

    def blob(self, op: Op, operand: Operand) -> Blob:
        if operand not in self._values:
            op.refuse("reads a number that follows from sizes, where ncnn has a constant", FIX)
        value = self._values[operand]
        if not isinstance(value, Blob):
            op.refuse("reads a tuple of tensors where a tensor belongs")
        return value

    def constant(self, values: Attribute) -> Blob:
        return Blob(None, values.shape, values.dtype, _batch(values.shape), values=values)

    # --- inputs and outputs

    def _input(self, op: Op) -> Blob:
        operand = op.output
        if "number" in op.params:
            op.refuse("is a number, and ncnn's inputs are blobs", "export it as a constant")
        shape, batch = op.shape(), self.wanted.get(operand)
        if len(shape) > MAX_RANK and batch is None:
            batch = 0
        elif len(shape) == 1:  # ncnn makes no batch of numbers; what wants one makes it of these
            batch = None
        self._check_shape(op, shape, batch)
        if operand.dtype not in (*FLOATS, *INTEGERS):
            op.refuse(f"is of {operand.dtype}, which ncnn does not have", "give it floats")
        made = self._add(op, INPUT(), (), 1, f"in{len(self.made.inputs)}")[0]
        indices = operand.dtype in INTEGERS and operand not in self._numbers
        self.made.inputs.append(Port(made, shape, operand.dtype, batch, indices))
        self.inputs.append(Blob(made, shape, operand.dtype, batch, indices=indices))
        return self.inputs[-1]

    def _output(self, op: Op, operand: Operand) -> Nest:
        return self._port(op, self._value(op, operand))

    def _port(self, op: Op, value: Value) -> Nest:
        if isinstance(value, Literal):
            return value
        if not isinstance(value, Blob):
            return tuple(self._port(op, item) for item in value)
        if value.dtype not in (*FLOATS, *INTEGERS, "bool", "c64"):
            op.refuse(f"returns {value.dtype}, which ncnn does not have")
        if value.batch is not None and value.rank == 1:
            value = self.view(op, value, value.shape, None)
        port = Port(self._read(op, value), value.shape, value.dtype, value.batch, value.indices)
        self.made.outputs.append(port)
        return len(self.made.outputs) - 1

    # --- layers

    def emit(
        self,
        op: Op,
        call: LayerCall,
        inputs: Sequence[Blob],
        outputs: Sequence[tuple[Shape, int | None]],
    ) -> list[Blob]:
        for shape, batch in outputs:
            self._check_shape(op, shape, batch)
        reads = [self._read(op, blob) for blob in inputs]
        made = self._add(op, call, reads, len(outputs))
        return [
            Blob(operand, shape, "f32", batch)
            for operand, (shape, batch) in zip(made, outputs, strict=True)
        ]

    def _add(
        self, op: Op, call: LayerCall, inputs: Sequence[Operand], outputs: int, name: str = ""
    ) -> list[Operand]:
        layers = self.made.layers
        name = name or op.operator.name
        serial = self._names[name] = self._names.get(name, -1) + 1
        name = f"{name}_{serial}" if serial else name
        made = [layers.fresh(name) for _ in range(outputs)]
        layer = layers.add(
            call.layer.type, name, inputs, made, params=call.params, attrs=call.weights
        )
        layer.where, layer.module = op.operator.where, op.operator.module
        layer.opaque = isinstance(call.layer, ForeignLayer)
        return made

    def _read(self, op: Op, blob: Blob) -> Operand:
        """The operand to read, for a constant of a layer that is made now."""
        if blob.operand is not None:
            return blob.operand
        assert blob.values is not None
        if blob.dtype not in (*FLOATS, *INTEGERS, "bool"):
            op.refuse(f"reads a constant of {blob.dtype}, and ncnn holds floats")
        self._check_shape(op, blob.shape, blob.batch)
        if blob.count != 1:
            flat = (blob.values.size,)
            whole = Blob(None, flat, blob.dtype, values=reshaped(blob.values, flat))
            stored = Blob(self._read(op, whole), flat, blob.dtype)
            return self._read(op, self.view(op, stored, blob.shape, blob.batch))
        sizes = dict(zip(NAMES[len(blob.dims)], blob.dims, strict=True))
        return self._add(op, MEMORY_DATA(**sizes, data=blob.values), (), 1)[0]

    def _check_shape(self, op: Op, shape: Shape, batch: int | None) -> None:
        if 0 in shape:
            op.refuse("reads or makes a tensor without elements, and ncnn has no empty blobs")
        if len(physical(shape, batch)) > MAX_RANK:
            op.refuse(f"a tensor of rank {len(shape)} does not fit: ncnn holds 4 dims and a batch")

    # --- views

    def view(self, op: Op, blob: Blob, shape: Shape, batch: int | None) -> Blob:
        """The elements of a blob in row-major order as another shape and batch axis.

        Views of views are made of the first; what lies the same way needs no layer. What has too
        many dims to lie whole has one of them as the batch.
        """
        if batch is None:
            batch = _batch(shape)
        origin = blob.origin or blob
        if origin.operand is None:
            assert blob.values is not None
            values = reshaped(blob.values, op.known(shape))
            return Blob(None, shape, blob.dtype, batch, values=values)
        self._check_shape(op, shape, batch)
        target = Blob(None, shape, blob.dtype, batch)
        plain = _same_batch(origin, target)
        if plain and target.dims == origin.dims:
            return replace(blob, operand=origin.operand, shape=shape, batch=batch, origin=None)
        dims = target.dims if plain else (target.shape or (1,))
        sizes = op.expressions(origin)
        axes = {} if plain else _batch_axes(origin, target)
        call = RESHAPE(**axes, **_sizes(dims, sizes))
        operand = self._add(op, call, [self._read(op, one) for one in sizes.read], 1)[0]
        return replace(blob, operand=operand, shape=shape, batch=batch, origin=origin)


def _is_key(operator: Operator) -> bool:
    """Whether an operator is the key of a dict that the model returns."""
    return operator.type == "pnnx.Expression" and all(
        reader.type == "prim::DictConstruct" and operand not in reader.inputs[1::2]
        for operand in operator.outputs
        for reader in operand.consumers
    )


def _is_returned(operator: Operator) -> bool:
    """Whether an operator is None or a number, a constant that the model returns."""
    constant = operator.type == "pnnx.Expression" and "(" not in str(operator.params["expr"])
    return (
        constant
        and not operator.inputs
        and all(
            operand.is_number and reader.type in (*NESTS, "pnnx.Output")
            for operand in operator.outputs
            for reader in operand.consumers
        )
    )


def _is_size(operator: Operator) -> bool:
    """Whether an operator works out sizes, which its readers express by themselves."""
    return operator.type == "pnnx.Expression" and all(
        operand.is_number and "size(" in str(operator.params["expr"])
        for operand in operator.outputs
    )


def _check_dtypes(op: Op, dtypes: Dtypes) -> None:
    """Refuse integers where a layer would compute with their bits."""
    given = [operand.dtype for operand in (*op.inputs, op.output)]
    others = [dtype for dtype in given if dtype not in FLOATS]
    if dtypes == "floats" and others:
        op.refuse(f"computes in {others[0]}, and ncnn in floats", "convert it with .float()")
    if dtypes == "moved" and {"c64", "c128"} & set(others) and op.type not in PAIRED:
        op.refuse("moves complex numbers, which ncnn has as pairs", "use torch.view_as_real")
    if dtypes == "moved" and others and len(set(given)) > 1:
        op.refuse(f"mixes {' and '.join(str(dtype) for dtype in dict.fromkeys(given))}")


def _batch(shape: Shape) -> int | None:
    """The axis that is the batch of a tensor of too many dims to lie whole."""
    if len(shape) <= MAX_RANK:
        return None
    return shape.index(1) if 1 in shape else 0


def _same_batch(origin: Blob, target: Blob) -> bool:
    """Whether each item of the batch is reshaped by itself."""
    if origin.count == target.count == 1:
        return True
    kept = carried(origin.shape, origin.batch, target.shape)
    return kept is not None and kept == target.batch


def _batch_axes(origin: Blob, target: Blob) -> dict[str, Param]:
    """Of a reshape across the batch: ncnn puts it back in its place, reshapes, takes another."""
    return {
        "input_batch_axis": 233 if origin.batch is None else origin.batch,
        "output_batch_axis": 233 if target.batch is None else target.batch,
    }


def _sizes(dims: Shape, sizes: Sizes) -> dict[str, Param]:
    """The parameters of Reshape: more than four dims are expressions, and so are dynamic ones, of
    which one alone is what remains.
    """
    if len(dims) > MAX_RANK or sum(isinstance(dim, str) for dim in dims) > 1:
        return {"shape_expr": sizes.write(dims[::-1])}
    return {
        name: dim if isinstance(dim, int) else -1
        for name, dim in zip(NAMES[len(dims)], dims, strict=True)
    }
